package history

import "net/http"

var Run = run

// PageHandler returns the pages of h.
func PageHandler(h *History) http.Handler { return newPage(h).handler("127.0.0.1:0") }
