package trace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	exptrace "golang.org/x/exp/trace"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// script is a history made by hand: one event for each call, with its time in
// microseconds.
type script struct {
	*goHistory
	err error
}

func begin() *script {
	s := &script{goHistory: newHistory()}
	return s.then(s.goHistory.generation(at(0), nil))
}

func at(micros int) exptrace.Time { return exptrace.Time(1_000_000_000 + micros*1000) }

func (s *script) then(err error) *script {
	s.err = errors.Join(s.err, err)
	return s
}

func (s *script) exists(micros, id, typ int) *script {
	return s.then(s.object(at(micros), "HeapObject", uint64(id), uint64(typ)))
}

func (s *script) alloc(micros, id, typ int) *script {
	return s.then(s.object(at(micros), "HeapObjectAlloc", uint64(id), uint64(typ)))
}

func (s *script) free(micros, id int) *script {
	return s.then(s.object(at(micros), "HeapObjectFree", uint64(id), 0))
}

func (s *script) span(page, pages, class uint64) *script {
	s.spans.set(page, pages, class)
	return s
}

func (s *script) routine(micros, id int, from, to exptrace.GoState) *script {
	return s.then(s.goroutine(at(micros), uint64(id), from, to))
}

// next begins a generation with these types, by number.
func (s *script) next(micros int, types ...goType) *script {
	data := []byte{0}
	for _, typ := range types {
		for _, v := range []uint64{typ.number, typ.address, 24, 8, uint64(len(typ.name))} {
			data = binary.AppendUvarint(data, v)
		}
		data = append(data, typ.name...)
	}
	return s.then(s.generation(at(micros), []exptrace.ExperimentalBatch{{Data: data}}))
}

type goType struct {
	number, address uint64
	name            string
}

// convert returns the trace of s and its summary.
func (s *script) convert(t rapid.TB, tables int) (string, Summary) {
	t.Helper()
	if s.err != nil {
		t.Fatal(s.err)
	}
	var b bytes.Buffer
	sum, err := s.write(&b, tables)
	if err != nil {
		t.Fatal(err)
	}
	verify(t, b.String(), sum)
	return b.String(), sum
}

// verify holds a converted trace to the rules of a lifetime and to its summary.
func verify(t rapid.TB, text string, sum Summary) {
	t.Helper()
	r, err := NewReader(strings.NewReader(text), "converted")
	if err != nil {
		t.Fatal(err)
	}
	checker := NewChecker("converted")
	events, ticks := 0, 0
	for batch, err := range r.Ticks() {
		if err == nil {
			err = checker.CheckBatch(batch)
		}
		if err != nil {
			t.Fatal(err)
		}
		events += len(batch)
		ticks++
	}
	if want := sum.Creates + sum.Updates + sum.Erases; events != want || ticks != sum.Ticks {
		t.Errorf("%d events in %d ticks, want %d in %d", events, ticks, want, sum.Ticks)
	}
	if want := sum.Creates - sum.Erases; checker.Len() != want {
		t.Errorf("%d live keys at the end, want %d", checker.Len(), want)
	}
	for _, table := range sum.Tables {
		events -= table.Events
	}
	if events != 0 {
		t.Errorf("the tables have %d events too few", events)
	}
}

// short joins the events of a converted trace in one line, without comments.
func short(text string) string {
	var events []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.IndexAny(line, "CUET") == 0 {
			events = append(events, line)
		}
	}
	return strings.Join(events, "; ")
}

func readSmall(t *testing.T) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/small.trace")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestConvert_RealTrace(t *testing.T) {
	const golden = "testdata/small.trace.txt"
	var b bytes.Buffer
	sum, err := Convert(bytes.NewReader(readSmall(t)), &b, ConvertOptions{})
	if err != nil {
		t.Fatal(err)
	}
	verify(t, b.String(), sum)
	got := b.String() + "# " + strings.ReplaceAll(strings.TrimSpace(sum.String()), "\n", "\n# ") + "\n"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", golden, diff)
	}
}

func TestConvert_CutsAtTick(t *testing.T) {
	var b bytes.Buffer
	sum, err := Convert(bytes.NewReader(readSmall(t)), &b, ConvertOptions{MaxEvents: 300, Tables: 4})
	if err != nil {
		t.Fatal(err)
	}
	verify(t, b.String(), sum)
	if n := sum.Creates + sum.Updates + sum.Erases; !sum.Cut || n > 300 || n < 100 || len(sum.Tables) != 4 {
		t.Errorf("cut %v, %d events, %d tables, want true, 100 to 300, 4", sum.Cut, n, len(sum.Tables))
	}
}

func TestConvert_RefusesInput(t *testing.T) {
	small := readSmall(t)
	for name, in := range map[string][]byte{"empty": nil, "text": []byte("PASS\n"), "truncated": small[:len(small)/2]} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if _, err := Convert(bytes.NewReader(in), &b, ConvertOptions{}); err == nil || b.Len() > 0 {
				t.Errorf("error %v, %d bytes written, want an error and none", err, b.Len())
			}
		})
	}
	t.Run("no heap objects", func(t *testing.T) {
		if _, err := Convert(bytes.NewReader(small[:16]), new(bytes.Buffer), ConvertOptions{}); !errors.Is(err, errNoObjects) {
			t.Errorf("error %v, want %v", err, errNoObjects)
		}
	})
}

func TestConvert_ReturnsErrorOfOutput(t *testing.T) {
	if _, err := Convert(bytes.NewReader(readSmall(t)), full{}, ConvertOptions{}); !errors.Is(err, errFull) {
		t.Errorf("error %v, want %v", err, errFull)
	}
}

var errFull = errors.New("no space left")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestHistory_FollowsLifetimes(t *testing.T) {
	const none, ready, running, waiting, syscall = exptrace.GoNotExist, exptrace.GoRunnable, exptrace.GoRunning, exptrace.GoWaiting, exptrace.GoSyscall
	const page = 1024
	a, b := goType{5, 100, "p.A"}, goType{6, 200, "p.B"}
	types := func() *script { return begin().next(0, a, b) }
	tests := []struct {
		name string
		text *script
		want string
	}{
		{"allocated and freed", types().alloc(0, 70, 5).free(0, 70), "C 1 0; E 1 0; T"},
		{"address returns", types().alloc(0, 70, 5).free(0, 70).alloc(0, 70, 5), "C 1 0; E 1 0; C 1 0; T"},
		{
			"smallest free key", types().alloc(0, 1, 5).alloc(0, 2, 5).alloc(0, 3, 5).free(0, 3).free(0, 1).alloc(0, 9, 5).alloc(0, 8, 5).alloc(0, 7, 5),
			"C 1 0; C 1 1; C 1 2; E 1 2; E 1 0; C 1 0; C 1 2; C 1 3; T",
		},
		{"existed before", types().exists(0, 70, 5).free(0, 70), "C 1 0; E 1 0; T"},
		{"lost free", types().alloc(0, 70, 5).alloc(0, 70, 5), "C 1 0; E 1 0; C 1 0; T"},
		{"lost free of another type", types().alloc(0, 70, 5).alloc(0, 70, 6), "C 1 0; E 1 0; C 2 0; T"},
		{"unknown free", types().free(0, 70).alloc(0, 71, 5), "C 1 0; T"},
		{"listed while alive", types().exists(0, 70, 5).exists(0, 70, 5), "C 1 0; T"},
		{"types by number of events", types().alloc(0, 1, 5).alloc(0, 2, 6).alloc(0, 3, 6), "C 2 0; C 1 0; C 1 1; T"},
		{"type without a number", types().alloc(0, 1, 7).alloc(0, 2, 8).alloc(0, 3, 5), "C 1 0; C 1 1; C 2 0; T"},
		{
			"types of a later generation", types().alloc(0, 1, 5).next(10, goType{5, 200, "p.B"}, goType{7, 100, "p.A"}).alloc(20, 2, 7).alloc(20, 3, 5),
			"C 1 0; C 1 1; C 2 0; T",
		},

		{"goroutine", begin().routine(0, 7, none, ready).routine(0, 7, ready, running).routine(0, 7, running, none), "C 0 0; U 0 0; E 0 0; T"},
		{"goroutine and object with one id", begin().routine(0, 7, none, ready).alloc(0, 7, 0), "C 0 0; C 1 0; T"},
		{"goroutine from before", begin().routine(0, 7, exptrace.GoUndetermined, waiting).routine(0, 8, running, syscall), "C 0 0; C 0 1; T"},
		{"unknown goroutine ends", begin().alloc(0, 1, 0).routine(0, 7, running, none), "C 1 0; T"},
		{"lost end of a goroutine", begin().routine(0, 7, none, ready).routine(0, 7, none, ready), "C 0 0; E 0 0; C 0 0; T"},

		{"two tiny objects share a slot", types().span(1, 1, 10).alloc(0, page, 5).alloc(0, page+1, 5).free(0, page), "C 1 0; C 1 1; E 1 0; E 1 1; T"},
		{"object after the word of the allocator", types().span(1, 2, 156).alloc(0, 2*page+1, 5).free(0, 2*page), "C 1 0; E 1 0; T"},
		{"slots of 8 bytes", types().span(1, 1, 4).alloc(0, page, 5).alloc(0, page+1, 5).free(0, page), "C 1 0; C 1 1; E 1 0; T"},
		{"slots that became 8 bytes", types().span(1, 1, 10).span(1, 1, 6).alloc(0, page+1, 5).free(0, page), "C 1 0; T"},
		{"span outside the heap", types().span(1, 1, 1).alloc(0, page+1, 5).free(0, page), "C 1 0; T"},
		{"absurdly long span", types().span(1, 1<<40, 10).alloc(0, page+1, 5).free(0, page), "C 1 0; T"},

		{"tick", types().alloc(0, 1, 5).alloc(999, 2, 5).alloc(1000, 3, 5), "C 1 0; C 1 1; T; C 1 2; T"},
		{"empty ticks", types().alloc(0, 1, 5).alloc(3000, 2, 5), "C 1 0; T; T; T; C 1 1; T"},
		{"long listing", types().exists(0, 1, 5).exists(2500, 2, 5).alloc(2600, 3, 5), "C 1 0; C 1 1; T; T; C 1 2; T"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := tt.text.convert(t, DefaultTables)
			if diff := cmp.Diff(tt.want, short(got)); diff != "" {
				t.Errorf("events differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHistory_NamesTables(t *testing.T) {
	for tables, want := range map[int]string{
		64: "goroutines; p.1; p.2; p.3; memory without a type",
		5:  "goroutines; p.1; p.2; p.3; memory without a type",
		4:  "goroutines; p.1; p.2; the 2 rarest types",
		2:  "goroutines; the 4 rarest types",
	} {
		s := begin().next(0, goType{1, 1, "p.1"}, goType{2, 2, "p.2"}, goType{3, 3, "p.3"})
		for i, typ := range []int{1, 1, 1, 1, 2, 2, 2, 3, 3, 0} {
			s.alloc(0, i, typ)
		}
		text, sum := s.convert(t, tables)
		var names []string
		for i, table := range sum.Tables {
			names = append(names, table.Name)
			if !strings.Contains(text, fmt.Sprintf("\n# table %d: %s\n", i, table.Name)) {
				t.Errorf("no comment names table %d, %s", i, table.Name)
			}
		}
		if got := strings.Join(names, "; "); got != want {
			t.Errorf("%d tables are\n%s\nwant\n%s", tables, got, want)
		}
	}
	t.Run("comments are harmless", func(t *testing.T) {
		got, _ := begin().next(0, goType{5, 100, "p.A\nC 1 2\r" + strings.Repeat("x", 5000)}).alloc(0, 1, 5).convert(t, 2)
		if short(got) != "C 1 0; T" || len(got) > 500 {
			t.Errorf("the trace is %s", got)
		}
	})
}

func TestHistory_CountsRepairs(t *testing.T) {
	s := begin().exists(0, 1, 0).exists(0, 1, 0).free(0, 2).alloc(0, 1, 0)
	s.routine(0, 7, exptrace.GoRunning, exptrace.GoNotExist).routine(0, 8, exptrace.GoNotExist, exptrace.GoRunnable).routine(0, 8, exptrace.GoNotExist, exptrace.GoRunnable)
	_, sum := s.convert(t, 2)
	if sum.Repaired != 2 || sum.Skipped != 2 {
		t.Errorf("%d repaired, %d skipped, want 2, 2", sum.Repaired, sum.Skipped)
	}
}

func TestHistory_RefusesEvents(t *testing.T) {
	data := []byte{5, 5, 5, 5, 5, 'a', 'b'}
	for want, got := range map[string]error{
		"time 9000000000000000000, want at most 4194304 ms after the beginning": begin().object(9e18, "HeapObjectFree", 1, 0),
		"the first tick has more than 1 events":                                 begin().alloc(0, 1, 0).alloc(0, 2, 0).cut(1),
		"type 0 of the batch is truncated":                                      begin().readTypes(data[:3]),
		"the name of type 0 of the batch is truncated":                          begin().readTypes(data),
	} {
		if got == nil || got.Error() != want {
			t.Errorf("error %v, want %s", got, want)
		}
	}
}

// Every history keeps the rules of a lifetime and agrees with its summary.
func TestHistory_KeepsRulesOfLifetimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, time := begin().next(0, goType{1, 1, "p.A"}, goType{2, 2, "p.B"}), 0
		small := rapid.IntRange(0, 5)
		for range rapid.IntRange(0, 100).Draw(t, "events") {
			time += rapid.SampledFrom([]int{0, 1, 700, 2000}).Draw(t, "passed")
			id, typ := small.Draw(t, "id"), small.Draw(t, "type")
			switch rapid.IntRange(0, 5).Draw(t, "event") {
			case 0:
				s.exists(time, id, typ)
			case 1:
				s.alloc(time, id, typ)
			case 2:
				s.free(time, id)
			case 3:
				s.span(0, 1, 2<<typ)
			default:
				states := rapid.SampledFrom([]exptrace.GoState{exptrace.GoNotExist, exptrace.GoRunning})
				s.routine(time, id, states.Draw(t, "from"), states.Draw(t, "to"))
			}
		}
		s.convert(t, rapid.IntRange(2, 5).Draw(t, "tables"))
	})
}
