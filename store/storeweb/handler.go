package storeweb

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"handloom/store"
)

// Handler returns a handler with pages about s and the schedules. It may be mounted at any
// path, and serves any number of concurrent requests. The package comment lists pages and cost.
//
// It returns 400 and 404 for invalid requests, 405 for methods except GET and HEAD, 410 if the
// store is closed, 500 if it is broken, and 503 if it is busy for a second; if possible with
// the data of the last flush.
func Handler(s *store.Store, schedules ...*store.Schedule) http.Handler {
	return &handler{store: s, schedules: schedules, lock: make(chan struct{}, 1)}
}

type handler struct {
	store     *store.Store
	schedules []*store.Schedule
	lock      chan struct{} // held during a Read
	history   history
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	asked, refused := ask(r)
	if refused != nil {
		refused.write(w, r)
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

// ask returns the request of r, or the answer to an invalid one.
func ask(r *http.Request) (asked request, refused *answer) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return asked, problem(http.StatusMethodNotAllowed, r.Method+" is not allowed; these pages change nothing")
	}
	asked, err := parse(r)
	if err != nil {
		return asked, problem(http.StatusBadRequest, err.Error())
	}
	return asked, nil
}

// patience limits the wait for the store.
const patience = time.Second

var (
	errBusy    = fmt.Errorf("store is busy for more than %v", patience)
	errGivenUp = errors.New("request ended before the store was free")
)

// look calls f inside a Read. f must be short, because ticks wait for it.
func (h *handler) look(request context.Context, f func()) error {
	ctx, cancel := context.WithTimeoutCause(request, patience, errBusy)
	defer cancel()
	err := h.read(ctx, f)
	if err != nil && request.Err() != nil {
		return errGivenUp
	}
	return err
}

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
