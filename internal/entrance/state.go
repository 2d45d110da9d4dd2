package entrance

import "time"

// A State is a part of world.Status, for each call of a cell: Status also scans histograms.
type State struct {
	Leader   bool
	Waits    bool
	ClockOff time.Duration
}
