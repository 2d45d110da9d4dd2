package storeweb_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"handloom/batch"
	"handloom/store"
	"handloom/store/storeweb"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type ship struct {
	Name string
	Hull int
	Next store.Handle[ship]
}

type shot struct{ X, Y float32 }

type fleet struct {
	*store.Store
	ships *store.Table[ship]
	shots *store.StableTable[shot]
	frame *store.Schedule
}

func newFleet(t testing.TB, ships int) (*fleet, http.Handler) {
	t.Helper()
	s := store.New(store.Options{Workers: 2})
	f := &fleet{Store: s}
	f.ships = store.Register(s, store.TableOptions[ship]{Name: "ship", Shards: 3})
	f.shots = store.RegisterStable(s, store.TableOptions[shot]{Name: "shot"})
	type on = []store.Resource
	idle := func(context.Context) error { return nil }
	f.frame = store.NewSchedule(s,
		store.System{Name: "steer", Writes: on{f.ships}, Run: idle},
		store.System{Name: "shoot", Reads: on{f.ships, f.shots}, Emits: on{f.shots}, Run: f.shoot},
		store.System{Name: "hit", Reads: on{f.shots}, Writes: on{f.ships}, If: func() bool { return false }, Run: idle})
	f.launch(t, ships)
	t.Cleanup(func() { _, _ = s.Close(context.Background()) })
	return f, storeweb.Handler(s, f.frame)
}

func (f *fleet) launch(t testing.TB, n int) {
	t.Helper()
	qs, err := f.Queues(1)
	noError(t, err)
	for i := range n {
		f.ships.Emplace(qs[0], ship{Name: "Argo", Hull: i})
	}
	noError(t, onlyError(f.Flush(t.Context())))
}

func (f *fleet) shoot(ctx context.Context) error {
	return f.Each(ctx, 2, func(task int, q store.Queue) {
		for h := range f.shots.All() {
			if h.ID.Slot()%2 == uint32(task) {
				f.shots.Erase(q, h)
			}
		}
		for i := range 50 {
			f.shots.Emplace(q, shot{X: float32(i)})
		}
	})
}

func (f *fleet) tick(ctx context.Context) error {
	return onlyError(f.Frame(ctx, func(ctx context.Context, _ *store.Writer) error {
		_, err := f.frame.Run(ctx)
		return err
	}))
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

var failIf, noError = storeweb.FailIf, storeweb.NoError

func onlyError[V any](_ V, err error) error { return err }

func ask(h http.Handler, method, target, accept string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const (
	asBrowser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	asProgram = "application/json"
)

// page returns the body of a page, which must have status 200.
func page(t *testing.T, h http.Handler, target string) string {
	t.Helper()
	w := ask(h, "GET", target, asBrowser)
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d\n%s", target, w.Code, w.Body)
	}
	return w.Body.String()
}

func says(t *testing.T, what, body string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		failIf(t, !strings.Contains(body, text), "%s does not say %q:\n%s", what, text, body)
	}
}

type answer struct {
	Error string
	Store *struct {
		Epoch   uint64
		Stats   []store.TableStats
		Flushed store.Report
		Recent  *struct {
			Seconds float64
			Flushes uint64
			Flushed store.Report
		}
		Heap      uint64 `json:"heap_bytes"`
		Schedules []struct {
			Explain string
			Systems []struct {
				System       string
				Reads, Emits []string
				Runs         int
				P50          int64 `json:"p50_ns"`
			}
		}
	}
	Table *struct {
		Stats   store.TableStats
		Flushed batch.Counts
		Columns []struct {
			Name    string
			Flushed batch.Counts
		}
		From  int
		Items []struct {
			Handle  store.ID
			Value   json.RawMessage
			Columns map[string]json.RawMessage
		}
	}
}

// read returns a page as JSON, with a wanted status.
func read(t *testing.T, h http.Handler, target string, status int) (a answer) {
	t.Helper()
	w := ask(h, "GET", target, asProgram)
	failIf(t, w.Code != status || w.Header().Get("Content-Type") != "application/json", "%s: %d, %s", target, w.Code, w.Header().Get("Content-Type"))
	d := json.NewDecoder(w.Body)
	if err := d.Decode(&a); err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Errorf("%s: there is more behind the answer", target)
	}
	return a
}
