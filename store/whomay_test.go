package store_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"handloom/store"
)

// may is a row of the table of callers in guide/rules.md.
type may struct {
	calls, inside []string
	from          string
}

func whoMay(t *testing.T) (rows []may) {
	t.Helper()
	page, err := os.ReadFile("../guide/rules.md")
	noError(t, err)
	_, table, found := strings.Cut(string(page), "\n| calls | inside | from |\n|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for line := range strings.SplitSeq(table, "\n") {
		cells := strings.Split(strings.ReplaceAll(line, "`", ""), "|")
		if !found || len(cells) != 5 {
			t.Fatalf("guide/rules.md: the line %q of the table of callers", line)
		}
		row := may{strings.Fields(cells[1]), strings.Split(strings.TrimSpace(cells[2]), ", "), strings.TrimSpace(cells[3])}
		if len(row.calls) == 0 { // of the previous row
			row.calls = rows[len(rows)-1].calls
		}
		rows = append(rows, row)
	}
	return append(rows, may{calls: []string{"Claim"}, inside: []string{"no phase"}, from: "any"}) // of package world
}

// The code in the package comment is in the examples, so it compiles and runs.
func TestDoc_ShowsCodeOfExamples(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	noError(t, err)
	blocks, indent := regexp.MustCompile(`(?m)(^//\t.*\n)+`).FindAll(doc, -1), regexp.MustCompile(`(?m)^(//)?\t*`)
	examples, err := filepath.Glob("example*_test.go")
	noError(t, err)
	for _, block := range blocks {
		if !slices.ContainsFunc(examples, func(file string) bool {
			code, err := os.ReadFile(file)
			return err == nil && bytes.Contains(indent.ReplaceAll(code, nil), indent.ReplaceAll(block, nil))
		}) {
			t.Errorf("no example has\n%s", block)
		}
	}
	equal(t, "blocks of code", len(blocks), 4)
}

// fits reports whether the rows permit a call inside phases, innermost last, and whether
// concurrently with another call.
func fits(rows []may, call string, phases []string) (fits, atOnce bool) {
	means := map[string][]string{
		"pass": {"ForEach", "Each", "Do"}, "task": {"ForEach", "Each", "Do"}, "no phase open at all": {"no phase"},
	}
	innermost := phases[len(phases)-1]
	for _, row := range rows {
		if !slices.Contains(row.calls, call) {
			continue
		}
		for _, word := range row.inside {
			if word == "anywhere" || word == innermost || slices.Contains(means[word], innermost) {
				return true, row.from == "any"
			}
		}
	}
	return false, false
}

type visitor struct {
	*store.Store
	outer, other *store.Table[item]
	stable       *store.StableTable[item]
	frame        *store.Schedule
	now, next    *store.Column[item, int]
	writer       *store.Writer // the innermost one
	groups       store.Groups[item, item]
	before       store.Checkpoint
	image        []byte
}

func newVisitor(t *testing.T) *visitor {
	t.Helper()
	s, table := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{})
	v := &visitor{Store: s, outer: table, other: register(t, s, store.TableOptions[item]{Name: "other"})}
	v.stable = registerStable(t, s, store.TableOptions[item]{Name: "stable"})
	v.now, v.next = addColumn(t, v.other, store.ColumnOptions[int]{Name: "now"}), addColumn(t, v.other, store.ColumnOptions[int]{Name: "next"})
	v.frame = newSchedule(t, s, store.System{Name: "idle", Run: nothing})
	fill(t, s, v.outer, 1)
	fill(t, s, v.other, 1)
	checkpoint(t, s, &v.before)
	v.image = image(t, s)
	noError(t, store.GroupBy(t.Context(), &v.groups, v.other, v.other, parent))
	return v
}

// enter opens nested phases and calls f once in the innermost.
func (v *visitor) enter(ctx context.Context, phases []string, f func(ctx context.Context)) error {
	if len(phases) == 0 {
		f(ctx)
		return nil
	}
	next := func(ctx context.Context) error { return v.enter(ctx, phases[1:], f) }
	switch phases[0] {
	case "no phase":
		return next(ctx)
	case "Read":
		return v.Read(ctx, next)
	case "Frame":
		return onlyError(v.Frame(ctx, func(ctx context.Context, w *store.Writer) error {
			v.writer = w
			return next(ctx)
		}))
	case "ForEach":
		return v.outer.ForEach(ctx, func(c store.Chunk[item]) { c.Queue.Fail(next(c.Queue.Context())) })
	case "Each":
		return v.Each(ctx, 1, func(_ int, q store.Queue) { q.Fail(next(q.Context())) })
	case "Do":
		return v.Do(ctx, func(q store.Queue) { q.Fail(next(q.Context())) })
	case "Reduce":
		var failed error
		_, err := store.Reduce(ctx, v.other, func(store.Chunk[item]) int { failed = next(ctx); return 0 }, addInt)
		return errors.Join(err, failed)
	case "system":
		all := on(v.outer, v.other, v.stable, v.now, v.next)
		frame := store.NewSchedule(v.Store, store.System{Name: "it", Writes: all, Emits: all, Run: next})
		return onlyError(frame.Run(ctx))
	}
	panic("no phase is called " + phases[0])
}

func (v *visitor) calls() map[string]func(ctx context.Context) error {
	number := func(*item) uint64 { return 0 }
	byNumber := func(_, _ *item) int { return 0 }
	calls := phases(v.Store, v.other)
	calls["Rollback"] = func(ctx context.Context) error { return v.Rollback(ctx, &v.before) }
	calls["Snapshot"] = func(ctx context.Context) error { return v.Snapshot(ctx, io.Discard) }
	calls["Load"] = func(ctx context.Context) error { return v.Load(ctx, bytes.NewReader(v.image)) }
	calls["ReadCheckpoint"] = func(ctx context.Context) error {
		return v.ReadCheckpoint(ctx, bytes.NewReader(v.image), new(store.Checkpoint))
	}
	calls["Groups.ForEach"] = func(ctx context.Context) error {
		return v.groups.ForEach(ctx, func(store.GroupChunk[item, item]) {})
	}
	calls["Schedule.Run"] = func(ctx context.Context) error { return onlyError(v.frame.Run(ctx)) }
	calls["SortFunc"] = func(ctx context.Context) error { return store.SortFunc(ctx, v.other, v.writer, byNumber) }
	calls["SortByKey"] = func(ctx context.Context) error { return store.SortByKey(ctx, v.other, v.writer, number) }
	calls["Defragment"] = func(ctx context.Context) error {
		_, _, err := store.Defragment(ctx, v.other, v.writer, byNumber, 0)
		return err
	}
	calls["ForEachRows"] = func(ctx context.Context) error {
		return v.other.ForEachRows(ctx, func(store.Chunk[item]) {})
	}
	calls["Fold"] = func(ctx context.Context) error {
		return store.Fold(ctx, v.other, v.stable, parent, func(*item, *item) {})
	}
	calls["Exchange"] = func(ctx context.Context) error { return store.Exchange(ctx, v.now, v.next) }
	calls["AddColumn"] = func(context.Context) error {
		return faultOf(func() { store.AddColumn(v.other, store.ColumnOptions[int]{Name: "late"}) })
	}
	calls["AddSparse"] = func(context.Context) error {
		return faultOf(func() { store.AddSparse(v.stable, store.ColumnOptions[int]{Name: "late"}) })
	}
	calls["Submit"] = func(ctx context.Context) error {
		return onlyError(v.Submit(ctx, func(store.Queue) error { return nil }))
	}
	calls["Close"] = func(ctx context.Context) error { return onlyError(v.Close(ctx)) }
	calls["Claim"] = func(ctx context.Context) error {
		c, err := openClaim(ctx, v.Store)
		if err == nil {
			c.Release()
		}
		return err
	}
	calls["Queues"] = func(context.Context) error { return onlyError(v.Queues(1)) }
	calls["Discard"] = func(context.Context) error { return v.Discard() }
	calls["Register"] = func(context.Context) error {
		return faultOf(func() { store.Register(v.Store, store.TableOptions[item]{Name: "late"}) })
	}
	calls["RegisterStable"] = func(context.Context) error {
		return faultOf(func() { store.RegisterStable(v.Store, store.TableOptions[item]{Name: "late"}) })
	}
	calls["Shuffle"] = func(context.Context) error { return v.Shuffle(1) }
	calls["Inbox"] = func(context.Context) error { return v.Inbox(func(store.Queue) error { return nil }) }
	calls["Stats"] = func(context.Context) error { v.Stats(); return nil }
	calls["Flushed"] = func(context.Context) error { v.Flushed(); return nil }
	calls["Epoch"] = func(context.Context) error { v.Epoch(); return nil }
	calls["Timings"] = func(context.Context) error { v.frame.Timings(); return nil }
	return calls
}

// unrefused are the calls that never fail in a normal build. Calls of queues and writers have
// tests of their own.
var unrefused = strings.Fields(`Get Has At All Len Resolve Find Created Erased Written Of Member DumpTable DumpColumns DigestTables
	Emplace Erase EraseAll Put Set Unset Staged write items elements in place Insert Remove Clear Sparse.Put`)

func attempt(call func(ctx context.Context) error, ctx context.Context) (err error) {
	message := panicOf(func() { err = call(ctx) })
	if message != "" {
		return errors.Join(store.ErrPhase, errors.New(message))
	}
	return err
}

func TestPhases_MatchTheConcurrencyTable(t *testing.T) {
	rows := whoMay(t)
	calls := newVisitor(t).calls()
	named := make(map[string]bool)
	for _, row := range rows {
		for _, call := range row.calls {
			named[call] = true
			if calls[call] == nil && !slices.Contains(unrefused, call) {
				t.Errorf("the table names %q, which this test does not know", call)
			}
		}
	}
	for call := range calls {
		if !named[call] {
			t.Errorf("the table does not name %q", call)
		}
	}
	for _, phases := range [][]string{
		{"no phase"},
		{"Read"},
		{"Frame"},
		{"ForEach"},
		{"Each"},
		{"system"},
		{"Frame", "ForEach"},
		{"Frame", "Do"},
		{"Frame", "system"},
		{"system", "ForEach"},
		{"system", "Each"},
		{"Frame", "system", "ForEach"},
		{"Frame", "system", "Each"},
	} {
		for name := range calls {
			t.Run(name+" in "+strings.Join(phases, ", "), func(t *testing.T) {
				atOnce(t, func(t *testing.T) { checkCell(t, rows, name, phases) })
			})
		}
	}
}

func checkCell(t *testing.T, rows []may, name string, phases []string) {
	fits, atOnce := fits(rows, name, phases)
	if (name == "Queues" || name == "Discard") && slices.ContainsFunc(phases, func(p string) bool { return p != "no phase" && p != "Read" && p != "Reduce" }) {
		fits = false // the phase around the Reduce decides
	}
	v := newVisitor(t)
	check := func(ctx context.Context, fits bool, while string) {
		err := attempt(v.calls()[name], ctx)
		if fits && err != nil || !fits && !errors.Is(err, store.ErrPhase) {
			t.Errorf("%s: %v, which should fit: %t", while, err, fits)
		}
	}
	noError(t, v.enter(t.Context(), phases, func(ctx context.Context) { check(ctx, fits, "alone") }))
	turns := phases[len(phases)-1] == "Frame" || phases[len(phases)-1] == "system"
	if _, reduces := map[string]bool{"Reduce": true, "Digest": true, "Verify": true}[name]; !turns && !reduces || !fits {
		return
	}
	v = newVisitor(t)
	noError(t, v.enter(t.Context(), phases, func(outer context.Context) {
		err := v.enter(outer, []string{"Reduce"}, func(context.Context) { check(outer, atOnce, "while a Reduce runs") })
		wantError(t, "", err, nil)
	}))
}
