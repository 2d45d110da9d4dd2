package goalloc_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handloom/internal/trace"
	"handloom/internal/trace/goalloc"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// script is parsed text made by hand: one event for each call.
type script struct{ strings.Builder }

func (s *script) event(micros int, rest string, args ...any) *script {
	kind, rest, _ := strings.Cut(fmt.Sprintf(rest, args...), " ")
	fmt.Fprintf(s, "M=1 P=0 G=1 %s Time=%d %s\n", kind, 1_000_000_000+micros*1000, rest)
	return s
}

func (s *script) exists(micros, id, typ int) *script {
	return s.event(micros, "Experimental Name=HeapObject Args=[id=Value{Uint64(%d)}, type=Value{Uint64(%d)}]", id, typ)
}

func (s *script) alloc(micros, id, typ int) *script {
	return s.event(micros, "Experimental Name=HeapObjectAlloc Args=[id=Value{Uint64(%d)}, type=Value{Uint64(%d)}]", id, typ)
}

func (s *script) free(micros, id int) *script {
	return s.event(micros, "Experimental Name=HeapObjectFree Args=[id=Value{Uint64(%d)}]", id)
}

func (s *script) span(page int, pages int64, class int) *script {
	return s.event(0, "Experimental Name=SpanAlloc Args=[id=Value{Uint64(%d)}, npages_value=Value{Uint64(%d)}, kindclass=Value{Uint64(%d)}]", page, pages, class)
}

func (s *script) goroutine(micros, id int, states string) *script {
	return s.event(micros, `StateTransition GoID=%d %s Reason=""`, id, states)
}

func (s *script) generation(micros, n int) *script { return s.event(micros, "Sync N=%d", n) }

// begin is a script whose first tick begins at 0.
func begin() *script { return new(script).generation(0, 1) }

// convert returns the trace of text, which the checker accepted, and its
// summary.
func convert(t testing.TB, text string, options goalloc.Options) (string, goalloc.Summary) {
	t.Helper()
	var b bytes.Buffer
	sum, err := goalloc.Convert(strings.NewReader(text), "x.parsed", &b, options)
	if err != nil {
		t.Fatal(err)
	}
	verify(t, b.String(), sum)
	return b.String(), sum
}

// verify reads a converted trace back and holds it to the rules of a lifetime
// and to its summary.
func verify(t testing.TB, text string, sum goalloc.Summary) {
	t.Helper()
	r, err := trace.NewReader(strings.NewReader(text), "converted")
	if err != nil {
		t.Fatal(err)
	}
	checker := trace.NewChecker("converted")
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
	if events != sum.Events || ticks != sum.Ticks {
		t.Errorf("%d events in %d ticks, but the summary says %d in %d", events, ticks, sum.Events, sum.Ticks)
	}
	if live := sum.Creates - sum.Erases; checker.Len() != live {
		t.Errorf("%d keys are alive at the end, but the summary says %d", checker.Len(), live)
	}
}

// short joins the events of a converted trace in one line, comments left out.
func short(text string) string {
	var events []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.IndexAny(line, "CUET") == 0 {
			events = append(events, line)
		}
	}
	return strings.Join(events, "; ")
}

func readTypes(t testing.TB, name string) *goalloc.TypeNames {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	names, err := goalloc.ReadTypeNames(f, name)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestConvertOfARealExcerpt(t *testing.T) {
	text, err := os.ReadFile("testdata/small.parsed")
	if err != nil {
		t.Fatal(err)
	}
	for golden, options := range map[string]goalloc.Options{
		"small.trace.txt":       {Types: readTypes(t, "testdata/small.wire")},
		"small.plain.trace.txt": {Tables: 4},
	} {
		got, sum := convert(t, string(text), options)
		got += "# " + strings.ReplaceAll(strings.TrimSpace(sum.String()), "\n", "\n# ") + "\n"
		path := filepath.Join("testdata", golden)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", path, diff)
		}
	}
}

func TestConvertFollowsLifetimes(t *testing.T) {
	tests := []struct {
		name string
		text *script
		want string
	}{
		{"allocated and freed", begin().alloc(0, 70, 5).free(0, 70), "C 1 0; E 1 0; T"},
		{"the address returns", begin().alloc(0, 70, 5).free(0, 70).alloc(0, 70, 5), "C 1 0; E 1 0; C 1 0; T"},
		{
			"the smallest free key is taken", begin().alloc(0, 1, 5).alloc(0, 2, 5).alloc(0, 3, 5).free(0, 3).free(0, 1).alloc(0, 9, 5).alloc(0, 8, 5).alloc(0, 7, 5),
			"C 1 0; C 1 1; C 1 2; E 1 2; E 1 0; C 1 0; C 1 2; C 1 3; T",
		},
		{"existed before", begin().exists(0, 70, 5).free(0, 70), "C 1 0; E 1 0; T"},
		{"a free was lost", begin().alloc(0, 70, 5).alloc(0, 70, 5), "C 1 0; E 1 0; C 1 0; T"},
		{"a free was lost and the type is another", begin().alloc(0, 70, 5).alloc(0, 70, 6), "C 1 0; E 1 0; C 2 0; T"},
		{"an unknown address is freed", begin().free(0, 70).alloc(0, 71, 5), "C 1 0; T"},
		{"listed while alive", begin().exists(0, 70, 5).exists(0, 70, 5), "C 1 0; T"},
		{
			"goroutine", begin().exists(0, 1, 0).goroutine(0, 7, "NotExist->Runnable").goroutine(0, 7, "Runnable->Running").goroutine(0, 7, "Running->NotExist"),
			"C 1 0; C 0 7; U 0 7; E 0 7; T",
		},
		{"goroutine from before", begin().exists(0, 1, 0).goroutine(0, 7, "Undetermined->Waiting").goroutine(0, 8, "Running->Syscall"), "C 1 0; C 0 7; C 0 8; T"},
		{"an unknown goroutine ends", begin().exists(0, 1, 0).goroutine(0, 7, "Running->NotExist"), "C 1 0; T"},
		{"the end of a goroutine was lost", begin().exists(0, 1, 0).goroutine(0, 7, "NotExist->Runnable").goroutine(0, 7, "NotExist->Runnable"), "C 1 0; C 0 7; E 0 7; C 0 7; T"},
		{"types by number of events", begin().alloc(0, 1, 5).alloc(0, 2, 6).alloc(0, 3, 6), "C 2 0; C 1 0; C 1 1; T"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := convert(t, tt.text.String(), goalloc.Options{})
			if diff := cmp.Diff(tt.want, short(got)); diff != "" {
				t.Errorf("events differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConvertFreesWholeSlots(t *testing.T) {
	const page = 1024
	tests := []struct {
		name string
		text *script
		want string
	}{
		{"two tiny objects share a slot", begin().span(1, 1, 10).alloc(0, page, 5).alloc(0, page+1, 5).free(0, page), "C 1 0; C 1 1; E 1 0; E 1 1; T"},
		{"an object behind the allocator's word", begin().span(1, 2, 156).alloc(0, 2*page+1, 5).free(0, 2*page), "C 1 0; E 1 0; T"},
		{"slots of 8 bytes", begin().span(1, 1, 4).alloc(0, page, 5).alloc(0, page+1, 5).free(0, page), "C 1 0; C 1 1; E 1 0; T"},
		{"slots that became 8 bytes", begin().span(1, 1, 10).span(1, 1, 6).alloc(0, page+1, 5).free(0, page), "C 1 0; T"},
		{"no heap", begin().span(1, 1, 1).alloc(0, page+1, 5).free(0, page), "C 1 0; T"},
		{"absurdly long", begin().span(1, 1<<40, 10).alloc(0, page+1, 5).free(0, page), "C 1 0; T"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := convert(t, tt.text.String(), goalloc.Options{})
			if diff := cmp.Diff(tt.want, short(got)); diff != "" {
				t.Errorf("events differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConvertCutsTicksByTheMillisecond(t *testing.T) {
	tests := []struct {
		name string
		text *script
		want string
	}{
		{"up to the next", begin().alloc(0, 1, 5).alloc(999, 2, 5).alloc(1000, 3, 5), "C 1 0; C 1 1; T; C 1 2; T"},
		{"empty ones between", begin().alloc(0, 1, 5).alloc(3000, 2, 5), "C 1 0; T; T; T; C 1 1; T"},
		{"time goes back", begin().alloc(1500, 1, 5).alloc(400, 2, 5).alloc(1600, 3, 5).alloc(2000, 4, 5), "T; C 1 0; C 1 1; C 1 2; T; C 1 3; T"},
		{"before the beginning", begin().alloc(-500, 1, 5).alloc(100, 2, 5), "C 1 0; C 1 1; T"},
		{"a long list of what exists", begin().exists(0, 1, 5).exists(2500, 2, 5).alloc(2600, 3, 5), "C 1 0; C 1 1; T; T; C 1 2; T"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := convert(t, tt.text.String(), goalloc.Options{})
			if diff := cmp.Diff(tt.want, short(got)); diff != "" {
				t.Errorf("events differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConvertCountsWhatItSkippedAndRepaired(t *testing.T) {
	s := begin().exists(0, 1, 0).exists(0, 1, 0).free(0, 2).alloc(0, 1, 0)
	s.goroutine(0, 7, "Running->NotExist").goroutine(0, 8, "NotExist->Runnable").goroutine(0, 8, "NotExist->Runnable")
	s.alloc(50, 3, 0).alloc(20, 4, 0).event(60, "Label Label=%q", "x").event(60, "StateTransition ProcID=1 Idle->Running Reason=%q", "")
	s.WriteString("Stack=\n\tmain.main @ 0x1\n\nTransitionStack=\n")
	_, sum := convert(t, s.String(), goalloc.Options{})
	want := goalloc.Summary{
		Lines: 16, Events: 8, Creates: 6, Erases: 2, Ticks: 1,
		Tables: []goalloc.Table{
			{Name: "goroutines", Events: 3},
			{Name: "memory without a type", Types: 1, Events: 5},
		},
		Skipped:  goalloc.Skipped{StackLines: 4, OtherEvents: 3, UnknownFrees: 1, UnknownEnds: 1, ListedAgain: 1},
		Repaired: goalloc.Repaired{LostFrees: 1, LostEnds: 1, TimesBack: 1},
	}
	if diff := cmp.Diff(want, sum); diff != "" {
		t.Errorf("summary differs (-want +got):\n%s", diff)
	}
}

func TestConvertSharesTheLastTable(t *testing.T) {
	s := begin()
	for typ := 1; typ <= 4; typ++ {
		for i := range 5 - typ {
			s.alloc(0, typ*10+i, typ)
		}
	}
	for tables, want := range map[int]string{
		0: "goroutines; type 1 of generation 1; type 2 of generation 1; type 3 of generation 1; type 4 of generation 1",
		5: "goroutines; type 1 of generation 1; type 2 of generation 1; type 3 of generation 1; type 4 of generation 1",
		4: "goroutines; type 1 of generation 1; type 2 of generation 1; the 2 rarest types",
		2: "goroutines; the 4 rarest types",
	} {
		text, sum := convert(t, s.String(), goalloc.Options{Tables: tables})
		var names []string
		for i, table := range sum.Tables {
			names = append(names, table.Name)
			if !strings.Contains(text, fmt.Sprintf("\n# table %d: %s\n", i, table.Name)) {
				t.Errorf("no comment names table %d, %s", i, table.Name)
			}
		}
		if got := strings.Join(names, "; "); got != want {
			t.Errorf("with %d tables they are\n%s\nwant\n%s", tables, got, want)
		}
	}
}

func TestConvertCutsAtATick(t *testing.T) {
	s := begin().alloc(0, 1, 5).alloc(0, 2, 5).alloc(1000, 3, 6).alloc(2000, 4, 6).alloc(2000, 5, 6)
	for most, want := range map[int]string{
		0: "C 2 0; C 2 1; T; C 1 0; T; C 1 1; C 1 2; T",
		5: "C 2 0; C 2 1; T; C 1 0; T; C 1 1; C 1 2; T",
		4: "C 1 0; C 1 1; T; C 2 0; T",
		2: "C 1 0; C 1 1; T",
	} {
		text, sum := convert(t, s.String(), goalloc.Options{MaxEvents: most})
		if got := short(text); got != want {
			t.Errorf("with at most %d events the trace is %s; want %s", most, got, want)
		}
		if cut := most == 4 || most == 2; sum.Cut != cut {
			t.Errorf("with at most %d events Cut is %v; want %v", most, sum.Cut, cut)
		}
	}
}

func TestConvertNamesFileLineAndReason(t *testing.T) {
	const none = "no heap objects in the text; take the trace with: GODEBUG=traceallocfree=1 go test -trace out.trace ./pkg && go tool trace -d=parsed out.trace"
	const at = "M=1 P=0 G=1 "
	tests := []struct{ name, text, want string }{
		{"empty", "", "1: " + none},
		{"a trace without allocations", begin().goroutine(0, 1, "Running->Waiting").String(), "2: " + none},
		{"no trace at all", "PASS\n", `1: "PASS" is no event; want the text of: go tool trace -d=parsed`},
		{"no time", at + "Sync N=1\n", `1: "M=1 P=0 G=1 Sync N=1" is no event; want the text of: go tool trace -d=parsed`},
		{"time not a number", at + "Sync Time=-5 N=1\n", `1: time "-5" is not a decimal number`},
		{
			"time beyond all", begin().alloc(0, 1, 5).String() + at + "StateTransition Time=18446744073709551615 GoID=1 Running->Waiting Reason=\"\"\n",
			"3: time 18446744073709551615 is 18446744072709 ms after the beginning; at most 4194304 are converted",
		},
		{"bad sync", at + "Sync Time=1 N=x\n", `1: unreadable sync number "N=x"`},
		{"cut off object", at + "Experimental Time=1 Name=HeapObjectAlloc Args=[id=Value{Uint64(1)}, ty", `1: unreadable arguments "Args=[id=Value{Uint64(1)}, ty" of "Name=HeapObjectAlloc"`},
		{"cut off value", at + "Experimental Time=1 Name=HeapObjectFree Args=[id=Value{Uint64(1", `1: unreadable arguments "Args=[id=Value{Uint64(1" of "Name=HeapObjectFree"`},
		{"value too high", at + "Experimental Time=1 Name=HeapObjectFree Args=[id=Value{Uint64(18446744073709551616)}]", `1: unreadable arguments "Args=[id=Value{Uint64(18446744073709551616)}]" of "Name=HeapObjectFree"`},
		{"cut off transition", at + "StateTransition Time=1 GoID=1 Running->Wai", `1: unreadable goroutine transition "GoID=1 Running->Wai"`},
		{"endless line", strings.Repeat("x", 2<<20), "1: the line is too long for the text of go tool trace"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			_, err := goalloc.Convert(strings.NewReader(tt.text), "x.parsed", &b, goalloc.Options{})
			checkFault(t, err, "x.parsed:"+tt.want)
			if b.Len() > 0 {
				t.Errorf("%q was written", b.String())
			}
		})
	}
	t.Run("first tick too long", func(t *testing.T) {
		text := begin().alloc(0, 1, 5).alloc(0, 2, 5).String()
		_, err := goalloc.Convert(strings.NewReader(text), "x.parsed", new(bytes.Buffer), goalloc.Options{MaxEvents: 1})
		checkFault(t, err, "x.parsed:3: the first tick alone has more than 1 events, the most that were asked for")
	})
}

func checkFault(t *testing.T, err error, want string) {
	t.Helper()
	var fault *trace.Error
	if !errors.As(err, &fault) {
		t.Fatalf("error is %v, a %T; want a *trace.Error", err, err)
	}
	if err.Error() != want {
		t.Errorf("error is\n%v\nwant\n%s", err, want)
	}
}

func TestConvertRefusesOptionsOutOfRangeAllAtOnce(t *testing.T) {
	_, err := goalloc.Convert(strings.NewReader(""), "x", new(bytes.Buffer), goalloc.Options{Tables: 1025, MaxEvents: -1})
	want := "goalloc: Tables is 1025; want 2 to 1024, or 0 for 64\ngoalloc: MaxEvents is -1; want 0 or more"
	if err == nil || err.Error() != want {
		t.Errorf("error is\n%v\nwant\n%s", err, want)
	}
}

func TestConvertTellsThatItsOutputFailed(t *testing.T) {
	_, err := goalloc.Convert(strings.NewReader(begin().alloc(0, 1, 5).String()), "x", full{}, goalloc.Options{})
	if !errors.Is(err, errFull) {
		t.Errorf("error is %v; want %v", err, errFull)
	}
}

var errFull = errors.New("no space left")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// FuzzConvert: whatever the text, the outcome is a valid trace that agrees
// with its summary, or an error with a line.
func FuzzConvert(f *testing.F) {
	excerpt, err := os.ReadFile("testdata/small.parsed")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(excerpt), uint8(0), uint8(0))
	f.Add(begin().span(0, 1, 10).alloc(0, 1, 5).exists(0, 1, 5).free(3000, 0).goroutine(1, 7, "NotExist->Runnable").String(), uint8(2), uint8(3))
	f.Fuzz(func(t *testing.T, text string, tables, most uint8) {
		options := goalloc.Options{Tables: int(tables) + 2, MaxEvents: int(most)}
		var b bytes.Buffer
		sum, err := goalloc.Convert(strings.NewReader(text), "fuzz", &b, options)
		if err == nil {
			verify(t, b.String(), sum)
			return
		}
		var fault *trace.Error
		if !errors.As(err, &fault) || fault.Line < 1 || fault.Reason == "" {
			t.Fatalf("error %v lacks line or reason", err)
		}
	})
}
