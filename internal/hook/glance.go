package hook

import "time"

// Glance returns what a node asks of a *world.World for each call and beat, without the quantiles
// of its Status. Package world sets it.
var Glance func(world any) State

// A State has fields of world.Status.
type State struct {
	Leader   bool
	Waits    bool
	ClockOff time.Duration
}
