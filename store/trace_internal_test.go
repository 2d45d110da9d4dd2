package store

import (
	"bytes"
	"context"
	"errors"
	"runtime/trace"
	"testing"

	"handloom/internal/check"
)

func traced(t *testing.T, f func(ctx context.Context)) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := trace.Start(&out); err != nil {
		t.Skip("a trace of the whole test is taken:", err)
	}
	defer trace.Stop()
	f(t.Context())
	trace.Stop()
	return out.Bytes()
}

func expectRegions(t *testing.T, out []byte, names ...string) {
	t.Helper()
	for _, name := range names {
		if !bytes.Contains(out, []byte(name)) {
			t.Errorf("the trace has no region %q", name)
		}
	}
}

func newTraced(t *testing.T) (*Store, *Table[int]) {
	t.Helper()
	s := New(Options{Workers: 2})
	table := Register(s, TableOptions[int]{Name: "ships", Shards: 3})
	return s, table
}

func TestTrace_ShowsPhasesAndShards(t *testing.T) {
	s, table := newTraced(t)
	out := traced(t, func(ctx context.Context) {
		_, write := s.Frame(ctx, func(ctx context.Context, w *Writer) error {
			table.Insert(w, 1)
			_, _, failed := Defragment(ctx, table, w, func(a, b *int) int { return *a - *b }, 0)
			return failed
		})
		forEach := table.ForEach(ctx, func(c Chunk[int]) {
			c.Erase(0)
			table.EmplaceItems(c.Queue, []int{2, 2, 2}, nil)
		})
		verify := s.Verify(ctx)
		_, flush := s.Flush(ctx)
		read := s.Read(ctx, func(ctx context.Context) error {
			_, err := Reduce(ctx, table, func(r Chunk[int]) int { return len(r.Items) },
				func(a, b int) int { return a + b })
			return err
		})
		each := s.Each(ctx, 1, func(int, Queue) {})
		if err := errors.Join(write, forEach, verify, flush, read, each); err != nil {
			t.Error(err)
		}
	})
	expectRegions(t, out, "store: Frame", "store: Defragment ships", "store: Digest or Verify", "store: ForEach ships",
		"store: Read", "store: Reduce ships", "store: Each",
		"store: Flush", "store: plan", "store: plan ships/0", "store: apply", "store: apply ships/2")
	if bytes.Contains(out, []byte("store: link")) {
		t.Error("a region that did not begin is in the trace")
	}
}

func TestTrace_RegionMayOutliveIt(t *testing.T) {
	s, _ := newTraced(t)
	p := &phase{Context: t.Context(), store: s, op: opFlush}
	var inside region
	before := p.trace("")
	out := traced(t, func(context.Context) {
		before.end()
		inside = p.trace("")
	})
	inside.end()
	expectRegions(t, out, "store: Flush")
	if before != (region{}) {
		t.Error("without a trace there is a region")
	}
}

func TestTrace_RegionsAllocateNothingWithoutIt(t *testing.T) {
	if trace.IsEnabled() || check.Cheap || testing.CoverMode() != "" {
		t.Skip("a trace of the whole test, checks, the race detector and coverage allocate")
	}
	s, _ := newTraced(t)
	p := &phase{Context: t.Context(), store: s, op: opForEach}
	n := testing.AllocsPerRun(100, func() {
		p.trace("ships").end()
		traceStep(p, "plan").end()
	})
	if n != 0 {
		t.Errorf("they allocate %v objects", n)
	}
}
