package child

import (
	"time"

	"handloom/proof/runner"
)

// Request is one program to play.
type Request struct {
	Program  string        `json:"program"` // its text
	Config   string        `json:"config"`
	Patience time.Duration `json:"patience"`        // until the program counts as hung
	Trace    string        `json:"trace,omitempty"` // file for a flight-recorder trace, written if the program fails
}

// Response is what came of it.
type Response struct {
	Result *runner.Result `json:"result,omitempty"`
	Error  string         `json:"error,omitempty"` // why there is no result
	Ended  bool           `json:"ended,omitempty"` // the process ends after this response
}
