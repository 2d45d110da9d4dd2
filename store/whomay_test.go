package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	added        int
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
	calls["ForEachRows"] = func(ctx context.Context) error { return v.other.ForEachRows(ctx, func(store.Chunk[item]) {}) }
	calls["Shrink"] = v.Shrink
	calls["Fold"] = func(ctx context.Context) error {
		return store.Fold(ctx, v.other, v.stable, parent, func(*item, *item) {})
	}
	calls["Exchange"] = func(ctx context.Context) error { return store.Exchange(ctx, v.now, v.next) }
	calls["AddColumn"] = func(context.Context) error {
		v.added++
		return faultOf(func() { store.AddColumn(v.other, store.ColumnOptions[int]{Name: fmt.Sprint("late ", v.added)}) })
	}
	calls["AddSparse"] = func(context.Context) error {
		v.added++
		return faultOf(func() { store.AddSparse(v.stable, store.ColumnOptions[int]{Name: fmt.Sprint("late ", v.added)}) })
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
		return faultOf(func() { store.Register(v.Store, store.TableOptions[item]{Name: fmt.Sprint("late ", v.added)}) })
	}
	calls["RegisterStable"] = func(context.Context) error {
		return faultOf(func() { store.RegisterStable(v.Store, store.TableOptions[item]{Name: fmt.Sprint("late ", v.added)}) })
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

func complaint(f func() error) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
		}
	}()
	if err := f(); err != nil {
		return err.Error()
	}
	return "nothing"
}

// All cases use the same store.
func TestNil_ArgumentsAreNamed(t *testing.T) {
	ctx, none := context.Background(), context.Context(nil)
	s := store.New(store.Options{})
	units := store.Register(s, store.TableOptions[int]{Name: "unit", Changes: true})
	squads := store.RegisterStable(s, store.TableOptions[int]{Name: "squad"})
	speeds := store.AddColumn(units, store.ColumnOptions[int]{Name: "speed"})
	burns := store.AddSparse(units, store.ColumnOptions[int]{Name: "burn"})
	run := func(context.Context) error { return nil }
	chunk := func(store.Chunk[int]) {}
	rows := func(store.Chunk[int]) int { return 0 }
	stableRows := func(store.StableChunk[int]) int { return 0 }
	system := func(y store.System) func() error {
		y.Name, y.Run = "move", run
		return func() error { return faultOf(func() { store.NewSchedule(s, y) }) }
	}
	write := func(f func(ctx context.Context, w *store.Writer) error) func() error {
		return func() error { return onlyError(s.Frame(ctx, f)) }
	}
	var (
		noStore   *store.Store
		noTable   *store.Table[int]
		noStable  *store.StableTable[int]
		noColumn  *store.Column[int, int]
		noSparse  *store.Sparse[int, int]
		noTableOf store.TableOf[int]
		groups    store.Groups[int, int]
		into      store.Checkpoint
	)
	self := func(*int) store.Handle[int] { return store.Handle[int]{} }
	for name, c := range map[string]struct {
		call func() error
		want string
	}{
		"Read: function":                    {func() error { return s.Read(ctx, nil) }, "store: Read with a nil function"},
		"Read: store":                       {func() error { return noStore.Read(ctx, run) }, "store: Read of a nil or zero Store"},
		"Read: zero store":                  {func() error { return new(store.Store).Read(ctx, run) }, "store: Read of a nil or zero Store"},
		"Write: function":                   {func() error { return s.Write(ctx, nil) }, "store: Write with a nil function"},
		"Frame: function":                   {func() error { return onlyError(s.Frame(ctx, nil)) }, "store: Frame with a nil function"},
		"Each: function":                    {func() error { return s.Each(ctx, 1, nil) }, "store: Each with a nil function"},
		"Flush: store":                      {func() error { return onlyError(noStore.Flush(ctx)) }, "store: Flush of a nil or zero Store"},
		"Flush: zero store":                 {func() error { return onlyError(new(store.Store).Flush(ctx)) }, "store: Flush of a nil or zero Store"},
		"Close: store":                      {func() error { return onlyError(noStore.Close(ctx)) }, "store: Close of a nil or zero Store"},
		"Verify: store":                     {func() error { return noStore.Verify(ctx) }, "store: Digest or Verify of a nil or zero Store"},
		"Team: context":                     {func() error { return s.Team(none, run) }, "store: Team with a nil context"},
		"Team: function":                    {func() error { return s.Team(ctx, nil) }, "store: Team with a nil function"},
		"Inbox: function":                   {func() error { return s.Inbox(nil) }, "store: Inbox with a nil function"},
		"Inbox: store":                      {func() error { return noStore.Inbox(nil) }, "store: Inbox of a nil or zero Store"},
		"Submit: function":                  {func() error { return onlyError(s.Submit(ctx, nil)) }, "store: Submit with a nil function"},
		"Queues: store":                     {func() error { return onlyError(noStore.Queues(1)) }, "store: Queues of a nil or zero Store"},
		"Discard: zero store":               {func() error { return new(store.Store).Discard() }, "store: Discard of a nil or zero Store"},
		"Checkpoint: nil":                   {func() error { return s.Checkpoint(ctx, nil) }, "store: Checkpoint: no usable checkpoint: it is nil"},
		"Rollback: nil":                     {func() error { return s.Rollback(ctx, nil) }, "store: Rollback: no usable checkpoint: it is nil"},
		"WriteTo: checkpoint":               {func() error { return onlyError((*store.Checkpoint)(nil).WriteTo(new(bytes.Buffer))) }, "store: WriteTo with a nil Checkpoint"},
		"WriteTo: writer":                   {func() error { return onlyError(into.WriteTo(nil)) }, "store: WriteTo with a nil io.Writer"},
		"Snapshot: writer":                  {func() error { return s.Snapshot(ctx, nil) }, "store: Snapshot with a nil io.Writer"},
		"Load: reader":                      {func() error { return s.Load(ctx, nil) }, "store: Load with a nil io.Reader"},
		"ReadCheckpoint: reader":            {func() error { return s.ReadCheckpoint(ctx, nil, &into) }, "store: ReadCheckpoint with a nil io.Reader"},
		"ReadCheckpoint: checkpoint":        {func() error { return s.ReadCheckpoint(ctx, new(bytes.Buffer), nil) }, "store: ReadCheckpoint with a nil Checkpoint"},
		"Claim: store":                      {func() error { return onlyError(openClaim(ctx, noStore)) }, "store: Claim of a nil or zero Store"},
		"Register: store":                   {func() error { return faultOf(func() { store.Register(noStore, store.TableOptions[int]{}) }) }, "store: Register of a nil or zero Store"},
		"Register: zero store":              {func() error { return faultOf(func() { store.Register(new(store.Store), store.TableOptions[int]{}) }) }, "store: Register of a nil or zero Store"},
		"RegisterStable: store":             {func() error { return faultOf(func() { store.RegisterStable(noStore, store.TableOptions[int]{}) }) }, "store: Register of a nil or zero Store"},
		"AddColumn: table":                  {func() error { return faultOf(func() { store.AddColumn(noTable, store.ColumnOptions[int]{}) }) }, "store: AddColumn with a nil table"},
		"AddSparse: table":                  {func() error { return faultOf(func() { store.AddSparse(noTable, store.ColumnOptions[int]{}) }) }, "store: AddSparse with a nil table"},
		"AddSparse: stable table":           {func() error { return faultOf(func() { store.AddSparse(noStable, store.ColumnOptions[int]{}) }) }, "store: AddSparse with a nil table"},
		"AddSparse: nil":                    {func() error { return faultOf(func() { store.AddSparse(noTableOf, store.ColumnOptions[int]{}) }) }, "store: AddSparse with a nil table"},
		"ForEach: function":                 {func() error { return units.ForEach(ctx, nil) }, "store: ForEach with a nil function"},
		"ForEach: table":                    {func() error { return noTable.ForEach(ctx, chunk) }, "store: ForEach with a nil table"},
		"ForEach: zero table":               {func() error { return new(store.Table[int]).ForEach(ctx, chunk) }, "store: ForEach of a nil or zero Store"},
		"ForEach: stable":                   {func() error { return squads.ForEach(ctx, nil) }, "store: ForEach with a nil function"},
		"ForEach: no stable":                {func() error { return noStable.ForEach(ctx, nil) }, "store: ForEach with a nil table"},
		"ForEach: sparse":                   {func() error { return burns.ForEach(ctx, nil) }, "store: ForEach with a nil function"},
		"ForEach: no sparse":                {func() error { return noSparse.ForEach(ctx, nil) }, "store: ForEach with a nil Sparse"},
		"ForEachRows":                       {func() error { return units.ForEachRows(ctx, nil) }, "store: ForEachRows with a nil function"},
		"ForEachRows: table":                {func() error { return noTable.ForEachRows(ctx, nil) }, "store: ForEachRows with a nil table"},
		"EraseFunc: table":                  {func() error { return store.EraseFunc(ctx, noTableOf, func(*int) bool { return true }) }, "store: EraseFunc with a nil table"},
		"EraseFunc: function":               {func() error { return store.EraseFunc(ctx, squads, nil) }, "store: EraseFunc with a nil function"},
		"EraseOrphans: table":               {func() error { return store.EraseOrphans(ctx, units, noTableOf, self) }, "store: EraseOrphans with a nil table"},
		"EraseOrphans: key":                 {func() error { return store.EraseOrphans[int, int](ctx, units, units, nil) }, "store: EraseOrphans with a nil key function"},
		"GroupBy: groups":                   {func() error { return store.GroupBy(ctx, nil, units, units, self) }, "store: GroupBy with a nil Groups"},
		"GroupBy: table":                    {func() error { return store.GroupBy(ctx, &groups, nil, units, self) }, "store: GroupBy with a nil table"},
		"GroupBy: owners":                   {func() error { return store.GroupBy(ctx, &groups, units, nil, self) }, "store: GroupBy with a nil table"},
		"GroupBy: key":                      {func() error { return store.GroupBy(ctx, &groups, units, units, nil) }, "store: GroupBy with a nil key function"},
		"Groups.ForEach":                    {func() error { return groups.ForEach(ctx, nil) }, "store: ForEach with a nil function"},
		"Reduce: table":                     {func() error { return onlyError(store.Reduce(ctx, nil, rows, addInt)) }, "store: Reduce with a nil table"},
		"Reduce: function":                  {func() error { return onlyError(store.Reduce(ctx, units, nil, addInt)) }, "store: Reduce with a nil function"},
		"Reduce: combine":                   {func() error { return onlyError(store.Reduce(ctx, units, rows, nil)) }, "store: Reduce with a nil combine function"},
		"Reduce of a stable table: combine": {func() error { return onlyError(store.Reduce(ctx, squads, stableRows, nil)) }, "store: Reduce with a nil combine function"},
		"Reduce of a stable table: table":   {func() error { return onlyError(store.Reduce(ctx, noStable, stableRows, addInt)) }, "store: Reduce with a nil table"},
		"Exchange: column":                  {func() error { return store.Exchange(ctx, speeds, noColumn) }, "store: Exchange with a nil Column"},
		"SortFunc: function":                {write(func(ctx context.Context, w *store.Writer) error { return store.SortFunc(ctx, units, w, nil) }), "store: SortFunc with a nil function"},
		"SortFunc: context": {write(func(_ context.Context, w *store.Writer) error {
			return store.SortFunc(none, units, w, func(a, b *int) int { return *a - *b })
		}), "store: SortFunc with a nil context"},
		"SortFunc: table": {write(func(ctx context.Context, w *store.Writer) error {
			return store.SortFunc(ctx, nil, w, func(a, b *int) int { return *a - *b })
		}), "store: SortFunc with a nil table"},
		"SortByKey: function": {write(func(ctx context.Context, w *store.Writer) error { return store.SortByKey(ctx, units, w, nil) }), "store: SortByKey with a nil function"},
		"SortByKey: table":    {write(func(ctx context.Context, w *store.Writer) error { return store.SortByKey(ctx, noTable, w, nil) }), "store: SortByKey with a nil table"},
		"Defragment: table": {write(func(ctx context.Context, w *store.Writer) error {
			_, _, err := store.Defragment(ctx, noTable, w, nil, 0)
			return err
		}), "store: Defragment with a nil table"},
		"Created: table":       {func() error { store.Created(noTable); return nil }, "store: Created with a nil table"},
		"Created: nil":         {func() error { store.Created(noTableOf); return nil }, "store: Created with a nil table"},
		"Erased: table":        {func() error { store.Erased(noTable); return nil }, "store: Erased with a nil table"},
		"Written: table":       {func() error { store.Written(noTable); return nil }, "store: Written with a nil table"},
		"Resolved: receipt":    {func() error { store.Resolved(nil, store.Handle[int]{}); return nil }, "store: Resolved with a nil Receipt"},
		"NewSchedule: store":   {func() error { return faultOf(func() { store.NewSchedule(nil, store.System{Name: "move", Run: run}) }) }, "store: NewSchedule of a nil or zero Store"},
		"NewSchedule: run":     {func() error { return faultOf(func() { store.NewSchedule(s, store.System{Name: "move"}) }) }, `"move"`},
		"Reads: table":         {system(store.System{Reads: []store.Resource{units, noTable}}), `system "move": Reads[1] is nil`},
		"Reads: nil":           {system(store.System{Reads: []store.Resource{nil}}), `system "move": Reads[0] is nil`},
		"Writes: stable table": {system(store.System{Writes: []store.Resource{noStable}}), `system "move": Writes[0] is nil`},
		"Writes: column":       {system(store.System{Writes: []store.Resource{noColumn}}), `system "move": Writes[0] is nil`},
		"Emits: sparse":        {system(store.System{Emits: []store.Resource{units, noSparse}}), `system "move": Emits[1] is nil`},
		"Schedule.Run: nil":    {func() error { return onlyError((*store.Schedule)(nil).Run(ctx)) }, "store: Run with a nil Schedule"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := complaint(c.call); !strings.Contains(got, c.want) || strings.Contains(got, "invalid memory address") {
				t.Errorf("got %q, want one with %q", got, c.want)
			}
		})
	}
	contextless := append(strings.Fields("Shuffle Stats Flushed Epoch Timings SortFunc SortByKey Defragment"), withoutContext...)
	for name, call := range newVisitor(t).calls() {
		if slices.Contains(contextless, name) {
			continue
		}
		wantIn(t, name+" with a nil context", complaint(func() error { return call(none) }), " with a nil context")
	}
	noError(t, s.Do(ctx, func(q store.Queue) { units.Emplace(q, 1) }))
	if r, err := s.Flush(ctx); err != nil || r.Total.Created != 1 {
		t.Fatalf("afterwards a flush created %v, %v", r, err)
	}
}
