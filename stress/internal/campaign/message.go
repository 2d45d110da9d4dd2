package campaign

import (
	"time"

	"handloom/proof/runner"
)

type request struct {
	Program  string        `json:"program"`
	Config   string        `json:"config"`
	Patience time.Duration `json:"patience"` // limit after which the program hangs
}

type response struct {
	Result *runner.Result `json:"result,omitempty"`
	Error  string         `json:"error,omitempty"` // reason for a missing result
	Ended  bool           `json:"ended,omitempty"` // the process ends after this response
}
