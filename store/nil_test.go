package store_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"handloom/store"
)

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
