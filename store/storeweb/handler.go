package storeweb

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"handloom/store"
)

// Handler returns a handler that shows s and the schedules, of which a store does
// not know. It may be mounted at any path and serves any number of requests at a
// time; the package comment lists its pages, and what they cost.
//
// It answers 400 and 404 to a request for what there is not, 405 to methods other than
// GET and HEAD, 410 when the store is closed, 500 when it is broken, and 503 when it
// is busy for longer than a second; where it can, with the figures of the last flush.
func Handler(s *store.Store, schedules ...*store.Schedule) http.Handler {
	return &handler{store: s, schedules: schedules, lock: make(chan struct{}, 1)}
}

type handler struct {
	store     *store.Store
	schedules []*store.Schedule
	lock      chan struct{} // has the one who is inside a Read
	history   history
}

// ServeHTTP answers one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		problem(http.StatusMethodNotAllowed, r.Method+" is not allowed; a store is only looked at here").write(w, r)
		return
	}
	asked, err := parse(r)
	if err != nil {
		problem(http.StatusBadRequest, err.Error()).write(w, r)
		return
	}
	var a *answer
	if asked.ofTable {
		a = h.table(r.Context(), asked)
	} else {
		a = h.overview(r.Context())
	}
	a.asked = asked
	a.write(w, r)
}

// patience is how long a request waits for the store.
const patience = time.Second

var (
	errBusy    = fmt.Errorf("the store is busy: it was not free to be looked at within %v", patience)
	errGivenUp = errors.New("the request was given up before the store was free to be looked at")
)

// look calls f inside a Read. f must not take long: ticks wait for it.
func (h *handler) look(request context.Context, f func()) error {
	ctx, cancel := context.WithTimeoutCause(request, patience, errBusy)
	defer cancel()
	err := h.read(ctx, f)
	if err != nil && request.Err() != nil {
		return errGivenUp
	}
	return err
}

// read waits for its turn, and for the store.
func (h *handler) read(ctx context.Context, f func()) error {
	select {
	case h.lock <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-h.lock }()
	return h.store.Read(ctx, func(context.Context) error {
		f()
		return nil
	})
}

// fault says in an answer why the store could not be looked at.
func (a *answer) fault(err error) {
	switch {
	case errors.Is(err, errBusy):
		a.Status, a.Error = http.StatusServiceUnavailable, errBusy.Error()
	case errors.Is(err, errGivenUp):
		a.Status, a.Error = http.StatusServiceUnavailable, errGivenUp.Error()
	case errors.Is(err, store.ErrClosed):
		a.Status, a.Error = http.StatusGone, "the store is closed"
	default:
		a.Status, a.Error = http.StatusInternalServerError, err.Error()
	}
}
