package storeweb_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"handloom/store"
)

func TestHandler_ReportsBusyStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := newFleet(t, 10)
		noError(t, f.Write(t.Context(), func(*store.Writer) {
			for target, figures := range map[string]bool{"/": true, "/?table=ship&from=0": false} {
				begin := time.Now()
				w := ask(h, "GET", target, asBrowser)
				if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" || time.Since(begin) != time.Second {
					t.Errorf("%s: %d after %v", target, w.Code, time.Since(begin))
				}
				body := w.Body.String()
				failIf(t, !strings.Contains(body, "store is busy") || strings.Contains(body, "10 items in 2 tables") != figures, "%s shows\n%s", target, body)
			}
		}))
		equal(t, "error afterwards", read(t, h, "/", http.StatusOK).Error, "")
	})
}

func TestHandler_WaitsForPhases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := newFleet(t, 10)
		answered := make(chan int, 5)
		err := f.Write(t.Context(), func(*store.Writer) {
			for range cap(answered) {
				go func() { answered <- ask(h, "GET", "/", "").Code }()
			}
			time.Sleep(900 * time.Millisecond) // of the bubble
		})
		for range cap(answered) {
			code := <-answered
			failIf(t, code != http.StatusOK || err != nil, "%d, %v", code, err)
		}
	})
}

func TestHandler_StopsWhenClientLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := newFleet(t, 10)
		noError(t, f.Write(t.Context(), func(*store.Writer) {
			ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, errors.New("enough"))
			defer cancel()
			begin := time.Now()
			done := make(chan struct{})
			for range 2 { // one waits for the store, the other for the first
				go func() {
					w := httptest.NewRecorder()
					h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil).WithContext(ctx))
					equal(t, "status", w.Code, http.StatusServiceUnavailable)
					done <- struct{}{}
				}()
			}
			<-done
			<-done
			equal(t, "wait", time.Since(begin), 300*time.Millisecond)
		}))
	})
}

func TestHandler_ClosedStoreIsGone(t *testing.T) {
	f, h := newFleet(t, 10)
	noError(t, onlyError(f.Close(t.Context())))
	a := read(t, h, "/", http.StatusGone)
	failIf(t, a.Error != "the store is closed" || a.Store.Stats[0].Live != 10, "got %+v", a)
	a = read(t, h, "/?table=ship&from=0", http.StatusGone)
	failIf(t, a.Error != "the store is closed" || a.Table != nil, "table: got %+v", a)
	says(t, "the page", ask(h, "GET", "/", asBrowser).Body.String(), "the store is closed. The figures are those of the last flush")
}

func TestHandler_RefusesRequestInsidePhase(t *testing.T) {
	f, h := newFleet(t, 10)
	noError(t, onlyError(f.Frame(t.Context(), func(ctx context.Context, _ *store.Writer) error {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil).WithContext(ctx))
		failIf(t, w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "not allowed in this phase"), "%d\n%s", w.Code, w.Body)
		return nil
	})))
}

func TestRates_CoverTimeBetweenRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := newFleet(t, 10)
		equal(t, "rates of the first request", read(t, h, "/", http.StatusOK).Store.Recent, nil)
		time.Sleep(500 * time.Millisecond)
		f.launch(t, 30)
		equal(t, "rates after half a second", read(t, h, "/", http.StatusOK).Store.Recent, nil)
		time.Sleep(1500 * time.Millisecond)
		f.launch(t, 10)
		a := read(t, h, "/", http.StatusOK).Store.Recent
		if a == nil || a.Seconds != 2 || a.Flushes != 2 || a.Flushed.Total.Created != 40 || a.Flushed.Tables[0].Created != 40 || a.Flushed.Tables[1].Created != 0 {
			t.Errorf("two seconds later they are %+v", a)
		}
		time.Sleep(100 * time.Millisecond) // a request soon afterwards reports about the same time
		a = read(t, h, "/", http.StatusOK).Store.Recent
		failIf(t, a == nil || a.Seconds != 2.1 || a.Flushes != 2, "soon afterwards they are %+v", a)
		time.Sleep(1900 * time.Millisecond)
		says(t, "a page without a flush", page(t, h, "/"), "In the last 2.00 s: no flush.", "<td>0/s</td>")
		time.Sleep(4 * time.Second)
		f.launch(t, 8)
		says(t, "a page after a flush", page(t, h, "/"), "In the last 4.00 s: flushes 0.25/s, created 2/s, erased 0/s; a flush takes ",
			"<td>58</td><td>2/s</td><td>0/s</td>", "Commands applied", "Live items")
	})
}

func TestRates_IncludeLaterTables(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := newFleet(t, 10)
		read(t, h, "/", http.StatusOK)
		late := store.Register(f.Store, store.TableOptions[int]{Name: "late"})
		qs, err := f.Queues(1)
		noError(t, err)
		late.Emplace(qs[0], 1)
		noError(t, onlyError(f.Flush(t.Context())))
		time.Sleep(time.Second) // of the bubble
		a := read(t, h, "/", http.StatusOK).Store.Recent
		failIf(t, a == nil || len(a.Flushed.Tables) != 3 || a.Flushed.Tables[2].Created != 1, "they are %+v", a)
		says(t, "the page of the items", page(t, h, "/?table=late&from=0"), "<th>value</th>", `<td title="1">1</td>`)
	})
}

func TestRates_ContinueAfterRollback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := newFleet(t, 10)
		var before store.Checkpoint
		noError(t, f.Checkpoint(t.Context(), &before))
		for range 5 {
			f.launch(t, 10)
		}
		read(t, h, "/", http.StatusOK)
		time.Sleep(time.Second) // of the bubble
		noError(t, f.Rollback(t.Context(), &before))
		f.launch(t, 3)
		a := read(t, h, "/", http.StatusOK).Store
		if a.Recent == nil || a.Recent.Flushes != 1 || a.Recent.Flushed.Total.Created != 3 || a.Epoch != 2 || a.Flushed.Epoch != 7 {
			t.Errorf("it says %+v of epoch %d", a.Recent, a.Epoch)
		}
	})
}
