package history

import (
	"net/http"
	"time"
)

var (
	Run        = run
	DiffMemory = &diffMemory
)

// PageHandler returns the pages of h, which show their progress after patience.
func PageHandler(h *History, patience time.Duration) http.Handler {
	p := newPage(h, "copy")
	p.patience = patience
	return p.handler("127.0.0.1:0")
}
