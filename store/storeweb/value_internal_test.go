package storeweb

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"handloom/batch"
	"handloom/store"
)

// The external tests use these.
var FailIf, NoError = failIf, noError

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func failIf(t testing.TB, failed bool, format string, args ...any) {
	t.Helper()
	if failed {
		t.Errorf(format, args...)
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func onlyError[V any](_ V, err error) error { return err }

type inner struct {
	A, b int8
	_    [4]byte
}

// loud has methods that must not be called.
type loud struct{ Level int }

func (loud) String() string               { panic("String is called") }
func (loud) MarshalJSON() ([]byte, error) { panic("MarshalJSON is called") }

type all struct {
	Small   int8
	big     uint64
	Yes     bool
	Text    string
	Float   float32
	Inf     float64
	Complex complex64
	ID      store.ID
	Next    store.Handle[inner]
	secret  store.ID
	For     time.Duration
	At      time.Time
	In      inner
	List    []int
	Array   [2]inner
	Any     any
	None    any
	Map     map[string]int
	Pointer *inner
	Nil     *inner
	Func    func()
	Loud    loud
	_       int
}

func TestCopyItem_CopiesEachField(t *testing.T) {
	v := &all{
		Small: -5, big: 1 << 63, Yes: true, Text: "a \"b\" <c>", Float: 0.1, Inf: math.Inf(1), Complex: 1 + 2i,
		ID: 7<<48 | 2<<32 | 9, Next: store.Handle[inner]{ID: 1<<48 | 1<<32}, secret: 2<<48 | 3<<32, For: 1500 * time.Millisecond,
		At: time.Date(2020, 1, 2, 3, 4, 5, 6, time.UTC), In: inner{A: 1, b: 2}, List: []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 1000},
		Any: inner{A: 3}, Map: map[string]int{"x": 1}, Pointer: new(inner), Func: func() {}, Loud: loud{77},
	}
	copied := copyItem(v, roomy())
	var got []string
	for _, f := range copied.(object) {
		got = append(got, f.name+": "+f.text())
	}
	want := []string{
		"Small: -5", "big: 9,223,372,036,854,775,808", "Yes: true", `Text: a "b" <c>`, "Float: 0.1", "Inf: +Inf", "Complex: (1+2i)",
		"ID: 7:9.2", "Next: 1:0.1", "secret: 2:0.3", "For: 1.5s", "At: 2020-01-02T03:04:05.000000006Z", "In: {A 1, b 2}",
		"List: [1, 2, 3, 4, 5, 6, 7, 8, … of 10]", "Array: [{A 0, b 0}, {A 0, b 0}]", "Any: {A 3, b 0}", "None: nil", "Map: map of 1",
		"Pointer: ptr", "Nil: nil", "Func: func", "Loud: {Level 77}",
	}
	equal(t, "text", strings.Join(got, "\n"), strings.Join(want, "\n"))
	text, err := json.Marshal(copied)
	wantJSON := `{"Small":-5,"big":9223372036854775808,"Yes":true,"Text":"a \"b\" \u003cc\u003e","Float":0.1,"Inf":"+Inf","Complex":"(1+2i)",` +
		`"ID":"7:9.2","Next":"1:0.1","secret":"2:0.3","For":"1.5s","At":"2020-01-02T03:04:05.000000006Z","In":{"A":1,"b":2},` +
		`"List":[1,2,3,4,5,6,7,8,"… of 10"],"Array":[{"A":0,"b":0},{"A":0,"b":0}],"Any":{"A":3,"b":0},"None":"nil","Map":"map of 1",` +
		`"Pointer":"ptr","Nil":"nil","Func":"func","Loud":{"Level":77}}`
	failIf(t, string(text) != wantJSON || err != nil, "as JSON it is %v\n%s\nwant\n%s", err, text, wantJSON)
}

func TestCopyItem_OtherTypes(t *testing.T) {
	id, h, list, when := store.ID(0), store.Handle[inner]{ID: 1<<48 | 1<<32}, []string{"x"}, time.Unix(0, 0).UTC()
	for want, p := range map[string]any{id.String(): &id, "1:0.1": &h, "[x]": &list, "1970-01-01T00:00:00Z": &when, "{}": new(struct{})} {
		equal(t, "text", copyItem(p, roomy()).text(), want)
	}
}

// A tree has any depth.
type tree struct {
	Name string
	Sub  []tree
}

// roomy returns room for one item of any size.
func roomy() *room {
	left := room(1 << 30)
	return &left
}

func size(v value) int {
	n := 1
	switch v := v.(type) {
	case object:
		for _, f := range v {
			n += size(f.value)
		}
	case list:
		for _, v := range v {
			n += size(v)
		}
	}
	return n
}

func TestCopyItem_IsBounded(t *testing.T) {
	deep := tree{Name: strings.Repeat("ä", 1_000)}
	for range 40 {
		deep = tree{deep.Name, []tree{deep, deep}}
	}
	wide := tree{Sub: make([]tree, 1_000_000)}
	var many [100]struct{ A, B, C [40]int }
	type fields struct {
		A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V, W, X, Y, Z, AA, AB, AC, AD, AE, AF, AG, AH [20]tree
	}
	var loop []any
	loop = append(loop, nil)
	loop[0] = loop // contains itself
	for name, p := range map[string]any{"deep": &deep, "wide": &wide, "many": &many, "fields": new(fields), "loop": &struct{ Loop []any }{loop}} {
		v := copyItem(p, roomy())
		n := size(v)
		failIf(t, n > (maxFields+1)*2*(maxParts+2), "%s has %d parts", name, n)
		if text := v.text(); len(text) > 32*1024 || strings.Contains(text, "\uFFFD") {
			t.Errorf("%s has %d bytes", name, len(text))
		}
		if text, err := json.Marshal(v); err != nil || !json.Valid(text) {
			t.Errorf("%s is not JSON: %v", name, err)
		}
	}
	columns := copyItem(new(fields), roomy()).(object)
	failIf(t, len(columns) != maxFields+1 || columns[maxFields].name != "…", "of 34 fields %d are shown", len(columns))
}

func TestLook_OneRequestAtATime(t *testing.T) {
	s := store.New(store.Options{})
	h := Handler(s).(*handler)
	var inside atomic.Int32
	done := make(chan error)
	const requests = 20
	for range requests {
		go func() {
			done <- h.look(t.Context(), func() {
				equal(t, "requests inside", inside.Add(1), 1)
				inside.Add(-1)
			})
		}()
	}
	for range requests {
		noError(t, <-done)
	}
}

func TestFault_SetsStatus(t *testing.T) {
	for status, err := range map[int]error{
		http.StatusServiceUnavailable:  fmt.Errorf("store: Read did not begin: %w", errBusy),
		http.StatusGone:                fmt.Errorf("store: Read: %w", store.ErrClosed),
		http.StatusInternalServerError: errors.Join(store.ErrBroken),
	} {
		var a answer
		if a.fault(err); a.Status != status || a.Error == "" {
			t.Errorf("%v: %d, %q", err, a.Status, a.Error)
		}
	}
}

func TestHistory_BoundsPoints(t *testing.T) {
	var h history
	begin := time.Now()
	flushed := new(store.Report)
	var before []point
	for i := range 3 * maxPoints {
		flushed = flushed.Clone()
		flushed.Epoch++
		flushed.Total.Created += i
		r, points := h.add(begin.Add(time.Duration(i)*apart), nil, flushed)
		if (r == nil) != (i == 0) || r != nil && (r.Seconds != 1 || r.Flushed.Total.Created != i) {
			t.Fatalf("request %d hears %+v", i, r)
		}
		if len(points) > 2*maxPoints || i > 0 && points[len(points)-1].created != float64(i) {
			t.Fatalf("request %d sees %d points", i, len(points))
		}
		if n := len(before); n > 0 && n < len(points) && points[n-1] != before[n-1] {
			t.Fatalf("request %d changes points that another one draws", i)
		}
		before = points
	}
}

func TestHistory_CoversTimeBetweenRequests(t *testing.T) {
	counts := func(n int) batch.Counts {
		return batch.Counts{
			Created: n, Erased: 2 * n, Put: 3 * n, Superseded: 4 * n, Dropped: 5 * n,
			Redundant: 6 * n, Stale: 7 * n, CancelledOut: 8 * n, Dangling: 9 * n, Depleted: 10 * n, Unset: 11 * n,
		}
	}
	report := func(n int) *store.Report {
		r := &store.Report{Epoch: uint64(n), Plan: time.Duration(n) * time.Microsecond, Apply: time.Duration(3*n) * time.Microsecond, Total: counts(n)}
		for i, name := range []string{"ship", "shot"} {
			r.Tables = append(r.Tables, store.TableReport{Name: name, Counts: counts(n + i)})
			r.Columns = append(r.Columns, store.TableReport{Name: name + ".x", Counts: counts(n + 10*i)})
		}
		return r
	}
	const before, later, seconds = 60, 100, 4
	var h history
	begin := time.Now()
	h.add(begin, nil, report(before))
	since, points := h.add(begin.Add(seconds*time.Second), []store.TableStats{{Live: 5}, {Live: 6}}, report(later))
	done := since.Flushed
	failIf(t, since.Seconds != seconds || since.Flushes != later-before || done.Total != counts(later-before), "got %+v, want %d flushes of %+v", since, later-before, counts(later-before))
	for i := range done.Tables {
		if done.Tables[i].Counts != counts(later-before) || done.Columns[i].Counts != counts(later-before) {
			t.Errorf("got table %v and column %v, want %v of each", done.Tables[i], done.Columns[i], counts(later-before))
		}
	}
	const n = (later - before) / seconds
	want := point{at: begin.Add(seconds * time.Second), live: 11, created: n, erased: 2 * n, put: 3 * n, flush: 4000}
	failIf(t, len(points) != 1 || points[0] != want, "got points %+v, want %+v", points, want)
}

func TestPager_PreviousHasItems(t *testing.T) {
	for _, c := range []struct{ live, from, count, want int }{
		{100, 20, 20, 0},
		{100, 60, 20, 40},
		{100, 10, 20, 0}, // less than a page before
		{100, 5, 20, 0},
		{100, 100, 20, 80},
		{100, 5000, 20, 80},
		{95, 5000, 20, 80},
		{101, 5000, 20, 100},
		{3, 7, 20, 0},
		{0, 40, 20, 0},
	} {
		a := &answer{asked: request{items: true, table: "ship", from: c.from, count: c.count}, Table: &tableView{Stats: store.TableStats{Live: c.live}}}
		if got, want := a.Pager().Previous, link("table", "ship", "from", strconv.Itoa(c.want), "count", strconv.Itoa(c.count)); got != want {
			t.Errorf("%d items, from %d, %d a page: got %s, want %s", c.live, c.from, c.count, got, want)
		}
	}
}

func TestColumnsOf_NamesWithDots(t *testing.T) {
	r := &store.Report{
		Tables:  []store.TableReport{{Name: "a.b"}, {Name: "a.b.c"}, {Name: "ab"}, {Name: "a"}},
		Columns: []store.TableReport{{Name: "a.x"}, {Name: "a.b.x"}, {Name: "a.b.c.x"}, {Name: "ab.x"}, {Name: "a.bx"}},
	}
	for table, want := range map[string][]string{"a": {"x", "bx"}, "a.b": {"x"}, "a.b.c": {"x"}, "ab": {"x"}, "x": nil} {
		var got []string
		for _, c := range columnsOf(table, r) {
			if got = append(got, c.Name); c.FullName != table+"."+c.Name {
				t.Errorf("the column %q of table %q is called %q", c.Name, table, c.FullName)
			}
		}
		failIf(t, !slices.Equal(got, want), "table %q: got columns %q, want %q", table, got, want)
	}
}
