package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"handloom/store"
)

// complaint returns the text of the panic of f, or of its error.
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

// A nil argument is named, and nothing of it stays: the same store is used by all cases.
func TestNil_IsNamed(t *testing.T) {
	ctx, none := context.Background(), context.Context(nil)
	s, err := store.New(store.Options{})
	units, wrong := store.Register(s, store.TableOptions[int]{Name: "unit", Changes: true})
	squads, wrong2 := store.RegisterStable(s, store.TableOptions[uint]{Name: "squad"})
	speeds, wrong3 := store.AddColumn(units, store.ColumnOptions[int8]{Name: "speed"})
	burns, wrong4 := store.AddSparse(units, store.ColumnOptions[int16]{Name: "burn"})
	if err := errors.Join(err, wrong, wrong2, wrong3, wrong4); err != nil {
		t.Fatal(err)
	}
	run := func(context.Context) error { return nil }
	system := func(y store.System) func() error {
		y.Name, y.Run = "move", run
		return func() error { _, err := store.NewSchedule(s, y); return err }
	}
	plan, err := store.NewSchedule(s, store.System{Name: "move", Run: run})
	if err != nil {
		t.Fatal(err)
	}
	claim := &store.Claim{}
	write := func(f func(ctx context.Context, w *store.Writer) error) func() error {
		return func() error { return s.Write(ctx, f) }
	}
	var (
		noStore   *store.Store
		noTable   *store.Table[int]
		noStable  *store.StableTable[uint]
		noColumn  *store.Column[int, int8]
		noSparse  *store.Sparse[int, int16]
		noTableOf store.TableOf[int]
		groups    store.Groups[int, int]
		into      store.Checkpoint
	)
	self := func(*int) store.Handle[int] { return store.Handle[int]{} }
	for name, c := range map[string]struct {
		call func() error
		want string
	}{
		"Read: context":              {func() error { return s.Read(none, run) }, "store: Read with a nil context"},
		"Read: function":             {func() error { return s.Read(ctx, nil) }, "store: Read with a nil function"},
		"Read: store":                {func() error { return noStore.Read(ctx, run) }, "store: Read of a nil or zero Store"},
		"Read: zero store":           {func() error { return new(store.Store).Read(ctx, run) }, "store: Read of a nil or zero Store"},
		"Write: context":             {func() error { return s.Write(none, func(context.Context, *store.Writer) error { return nil }) }, "store: Write with a nil context"},
		"Write: function":            {func() error { return s.Write(ctx, nil) }, "store: Write with a nil function"},
		"Each: context":              {func() error { return s.Each(none, 1, func(context.Context, int, store.Queue) error { return nil }) }, "store: Each with a nil context"},
		"Each: function":             {func() error { return s.Each(ctx, 1, nil) }, "store: Each with a nil function"},
		"Flush: context":             {func() error { _, err := s.Flush(none); return err }, "store: Flush with a nil context"},
		"Flush: store":               {func() error { _, err := noStore.Flush(ctx); return err }, "store: Flush of a nil or zero Store"},
		"Flush: zero store":          {func() error { _, err := new(store.Store).Flush(ctx); return err }, "store: Flush of a nil or zero Store"},
		"Close: context":             {func() error { _, err := s.Close(none); return err }, "store: Close with a nil context"},
		"Close: store":               {func() error { _, err := noStore.Close(ctx); return err }, "store: Close of a nil or zero Store"},
		"Digest: context":            {func() error { _, err := s.Digest(none); return err }, "store: Digest or Verify with a nil context"},
		"Verify: store":              {func() error { return noStore.Verify(ctx) }, "store: Digest or Verify of a nil or zero Store"},
		"Team: context":              {func() error { return s.Team(none, run) }, "store: Team with a nil context"},
		"Team: function":             {func() error { return s.Team(ctx, nil) }, "store: Team with a nil function"},
		"Inbox: function":            {func() error { return s.Inbox(nil) }, "store: Inbox with a nil function"},
		"Inbox: store":               {func() error { return noStore.Inbox(nil) }, "store: Inbox of a nil or zero Store"},
		"Submit: context":            {func() error { _, err := s.Submit(none, func(store.Queue) error { return nil }); return err }, "store: Submit with a nil context"},
		"Submit: function":           {func() error { _, err := s.Submit(ctx, nil); return err }, "store: Submit with a nil function"},
		"Queues: store":              {func() error { _, err := noStore.Queues(1); return err }, "store: Queues of a nil or zero Store"},
		"Discard: zero store":        {func() error { return new(store.Store).Discard() }, "store: Discard of a nil or zero Store"},
		"Checkpoint: context":        {func() error { return s.Checkpoint(none, &into) }, "store: Checkpoint with a nil context"},
		"Checkpoint: nil":            {func() error { return s.Checkpoint(ctx, nil) }, "store: Checkpoint: no usable checkpoint: it is nil"},
		"Rollback: context":          {func() error { return s.Rollback(none, &into) }, "store: Rollback with a nil context"},
		"Rollback: nil":              {func() error { return s.Rollback(ctx, nil) }, "store: Rollback: no usable checkpoint: it is nil"},
		"WriteTo: checkpoint":        {func() error { _, err := (*store.Checkpoint)(nil).WriteTo(new(bytes.Buffer)); return err }, "store: WriteTo with a nil Checkpoint"},
		"WriteTo: writer":            {func() error { _, err := into.WriteTo(nil); return err }, "store: WriteTo with a nil io.Writer"},
		"Snapshot: context":          {func() error { return s.Snapshot(none, new(bytes.Buffer)) }, "store: Snapshot with a nil context"},
		"Snapshot: writer":           {func() error { return s.Snapshot(ctx, nil) }, "store: Snapshot with a nil io.Writer"},
		"Load: context":              {func() error { return s.Load(none, new(bytes.Buffer)) }, "store: Load with a nil context"},
		"Load: reader":               {func() error { return s.Load(ctx, nil) }, "store: Load with a nil io.Reader"},
		"ReadCheckpoint: context":    {func() error { return s.ReadCheckpoint(none, new(bytes.Buffer), &into) }, "store: ReadCheckpoint with a nil context"},
		"ReadCheckpoint: reader":     {func() error { return s.ReadCheckpoint(ctx, nil, &into) }, "store: ReadCheckpoint with a nil io.Reader"},
		"ReadCheckpoint: checkpoint": {func() error { return s.ReadCheckpoint(ctx, new(bytes.Buffer), nil) }, "store: ReadCheckpoint with a nil Checkpoint"},
		"Claim: context":             {func() error { _, err := s.Claim(none); return err }, "store: Claim with a nil context"},
		"Claim: store":               {func() error { _, err := noStore.Claim(ctx); return err }, "store: Claim of a nil or zero Store"},
		"Claim.Context: claim":       {func() error { claim.Context(ctx); return nil }, "store: Context of a nil or zero Store"},
		"Claim.Submit: claim":        {func() error { _, err := claim.Submit(ctx, func(store.Queue) error { return nil }); return err }, "store: Submit of a nil or zero Store"},
		"Register: store": {func() error {
			_, err := store.Register(noStore, store.TableOptions[int]{})
			return err
		}, "store: Register of a nil or zero Store"},
		"Register: zero store": {func() error {
			_, err := store.Register(new(store.Store), store.TableOptions[int]{})
			return err
		}, "store: Register of a nil or zero Store"},
		"RegisterStable: store": {func() error {
			_, err := store.RegisterStable(noStore, store.TableOptions[int]{})
			return err
		}, "store: Register of a nil or zero Store"},
		"AddColumn: table": {func() error {
			_, err := store.AddColumn(noTable, store.ColumnOptions[int8]{})
			return err
		}, "store: AddColumn with a nil table"},
		"AddSparse: table": {func() error {
			_, err := store.AddSparse(noTable, store.ColumnOptions[int8]{})
			return err
		}, "store: AddSparse with a nil table"},
		"AddSparse: stable table": {func() error {
			_, err := store.AddSparse(noStable, store.ColumnOptions[int8]{})
			return err
		}, "store: AddSparse with a nil table"},
		"AddSparse: nil": {func() error {
			_, err := store.AddSparse(noTableOf, store.ColumnOptions[int8]{})
			return err
		}, "store: AddSparse with a nil table"},
		"ForEach: context":  {func() error { return units.ForEach(none, func(context.Context, store.Chunk[int]) error { return nil }) }, "store: ForEach with a nil context"},
		"ForEach: function": {func() error { return units.ForEach(ctx, nil) }, "store: ForEach with a nil function"},
		"ForEach: table": {func() error {
			return noTable.ForEach(ctx, func(context.Context, store.Chunk[int]) error { return nil })
		}, "store: ForEach with a nil table"},
		"ForEach: zero table": {func() error {
			return new(store.Table[int]).ForEach(ctx, func(context.Context, store.Chunk[int]) error { return nil })
		}, "store: ForEach of a nil or zero Store"},
		"ForEach: stable":    {func() error { return squads.ForEach(ctx, nil) }, "store: ForEach with a nil function"},
		"ForEach: no stable": {func() error { return noStable.ForEach(ctx, nil) }, "store: ForEach with a nil table"},
		"ForEach: sparse":    {func() error { return burns.ForEach(ctx, nil) }, "store: ForEach with a nil function"},
		"ForEach: no sparse": {func() error { return noSparse.ForEach(ctx, nil) }, "store: ForEach with a nil Sparse"},
		"ForEachRows: context": {func() error {
			return units.ForEachRows(none, func(context.Context, store.RowsChunk[int]) error { return nil })
		}, "store: ForEachRows with a nil context"},
		"ForEachRows":        {func() error { return units.ForEachRows(ctx, nil) }, "store: ForEachRows with a nil function"},
		"ForEachRows: table": {func() error { return noTable.ForEachRows(ctx, nil) }, "store: ForEachRows with a nil table"},
		"GroupBy: groups":    {func() error { return store.GroupBy(ctx, nil, units, units, self) }, "store: GroupBy with a nil Groups"},
		"GroupBy: table":     {func() error { return store.GroupBy(ctx, &groups, nil, units, self) }, "store: GroupBy with a nil table"},
		"GroupBy: owners":    {func() error { return store.GroupBy(ctx, &groups, units, nil, self) }, "store: GroupBy with a nil table"},
		"GroupBy: key":       {func() error { return store.GroupBy(ctx, &groups, units, units, nil) }, "store: GroupBy with a nil key function"},
		"GroupBy: context":   {func() error { return store.GroupBy(none, &groups, units, units, self) }, "store: GroupBy with a nil context"},
		"Groups.ForEach":     {func() error { return groups.ForEach(ctx, nil) }, "store: ForEach with a nil function"},
		"Reduce: context": {func() error {
			_, err := store.Reduce(none, units, func(context.Context, store.Rows[int]) (int, error) { return 0, nil }, func(a, b int) int { return a + b })
			return err
		}, "store: Reduce with a nil context"},
		"Reduce: table": {func() error {
			_, err := store.Reduce(ctx, nil, func(context.Context, store.Rows[int]) (int, error) { return 0, nil }, func(a, b int) int { return a + b })
			return err
		}, "store: Reduce with a nil table"},
		"Reduce: function": {func() error {
			_, err := store.Reduce(ctx, units, nil, func(a, b int) int { return a + b })
			return err
		}, "store: Reduce with a nil function"},
		"Reduce: combine": {func() error {
			_, err := store.Reduce(ctx, units, func(context.Context, store.Rows[int]) (int, error) { return 0, nil }, nil)
			return err
		}, "store: Reduce with a nil combine function"},
		"ReduceStable: combine": {func() error {
			_, err := store.ReduceStable(ctx, squads, func(context.Context, store.StableRows[uint]) (int, error) { return 0, nil }, nil)
			return err
		}, "store: Reduce with a nil combine function"},
		"ReduceStable: table": {func() error {
			_, err := store.ReduceStable(ctx, noStable, func(context.Context, store.StableRows[uint]) (int, error) { return 0, nil }, func(a, b int) int { return a })
			return err
		}, "store: Reduce with a nil table"},
		"Exchange: column":   {func() error { return store.Exchange(ctx, speeds, noColumn) }, "store: Exchange with a nil Column"},
		"Exchange: context":  {func() error { return store.Exchange(none, speeds, speeds) }, "store: Exchange with a nil context"},
		"SortFunc: function": {write(func(ctx context.Context, w *store.Writer) error { return store.SortFunc(ctx, units, w, nil) }), "store: SortFunc with a nil function"},
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
		"Maps: table":           {write(func(_ context.Context, w *store.Writer) error { store.Maps(noTable, w); return nil }), "store: Maps with a nil table"},
		"StableMaps: table":     {write(func(_ context.Context, w *store.Writer) error { store.StableMaps(noStable, w); return nil }), "store: StableMaps with a nil table"},
		"Created: table":        {func() error { store.Created(noTable); return nil }, "store: Created with a nil table"},
		"Created: nil":          {func() error { store.Created(noTableOf); return nil }, "store: Created with a nil table"},
		"Replaced: table":       {func() error { store.Replaced(noTable); return nil }, "store: Replaced with a nil table"},
		"Erased: table":         {func() error { store.Erased(noTable); return nil }, "store: Erased with a nil table"},
		"Written: table":        {func() error { store.Written(noTable); return nil }, "store: Written with a nil table"},
		"Resolved: receipt":     {func() error { store.Resolved(nil, store.Handle[int]{}); return nil }, "store: Resolved with a nil Receipt"},
		"NewSchedule: store":    {func() error { _, err := store.NewSchedule(nil, store.System{Name: "move", Run: run}); return err }, "store: NewSchedule of a nil or zero Store"},
		"NewSchedule: run":      {func() error { _, err := store.NewSchedule(s, store.System{Name: "move"}); return err }, `"move"`},
		"Reads: table":          {system(store.System{Reads: []store.Resource{units, noTable}}), `system "move": Reads[1] is nil`},
		"Reads: nil":            {system(store.System{Reads: []store.Resource{nil}}), `system "move": Reads[0] is nil`},
		"Writes: stable table":  {system(store.System{Writes: []store.Resource{noStable}}), `system "move": Writes[0] is nil`},
		"Writes: column":        {system(store.System{Writes: []store.Resource{noColumn}}), `system "move": Writes[0] is nil`},
		"Emits: sparse":         {system(store.System{Emits: []store.Resource{units, noSparse}}), `system "move": Emits[1] is nil`},
		"Schedule.Run: context": {func() error { _, err := plan.Run(none); return err }, "store: Run with a nil context"},
		"Schedule.Run: nil":     {func() error { _, err := (*store.Schedule)(nil).Run(ctx); return err }, "store: Run with a nil Schedule"},
		"Loop.Run: context":     {func() error { return new(store.Loop).Run(none, func(context.Context, uint64) error { return nil }) }, "store: Loop.Run with a nil context"},
		"Loop.Run: function":    {func() error { return new(store.Loop).Run(ctx, nil) }, "store: Loop.Run with a nil function"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := complaint(c.call); !strings.Contains(got, c.want) || strings.Contains(got, "invalid memory address") {
				t.Errorf("got %q, want one with %q", got, c.want)
			}
		})
	}
	if err := s.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error { units.Emplace(q, 1); return nil }); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Flush(ctx); err != nil || r.Total.Created != 1 {
		t.Fatalf("afterwards a flush created %v, %v", r, err)
	}
}
