package hook

import "time"

// Glance returns the State of a *world.World. It costs a lock; Status also scans histograms, which
// is too slow for each call of a cell. Package world sets it.
var Glance func(world any) State

// A State is a part of world.Status.
type State struct {
	Leader   bool
	Waits    bool
	ClockOff time.Duration
}
