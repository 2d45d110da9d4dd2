package campaign

import (
	"time"

	"handloom/proof/runner"
)

// request is one program to play.
type request struct {
	Program  string        `json:"program"` // its text
	Config   string        `json:"config"`
	Patience time.Duration `json:"patience"` // until the program counts as hung
}

// response is what came of it.
type response struct {
	Result *runner.Result `json:"result,omitempty"`
	Error  string         `json:"error,omitempty"` // why there is no result
	Ended  bool           `json:"ended,omitempty"` // the process ends after this response
}
