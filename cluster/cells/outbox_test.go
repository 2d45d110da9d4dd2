package cells_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"handloom/cluster/cells"
	"handloom/proof/maptest"
	"handloom/store"
	"handloom/store/storetest"
	"handloom/world"
)

type post[M any] struct {
	*store.Store
	out  *cells.Outbox[M]
	self cells.ID
}

// newPost returns a post with an ID, a fresh one by default.
func newPost[M any](t testing.TB, o cells.Options[M], self ...cells.ID) *post[M] {
	t.Helper()
	p := newOutbox(t, o)
	if len(self) > 0 {
		p.self = self[0]
	}
	p.begin(t)
	return p
}

// lastID is the ID of the newest post, less 1,000: the cells of a town have the lower ones. IDs
// decide the order of pairs, so they are not drawn.
var lastID atomic.Uint64

func newOutbox[M any](t testing.TB, o cells.Options[M]) *post[M] {
	t.Helper()
	p := &post[M]{Store: store.New(store.Options{}), self: cells.ID(1000 + lastID.Add(1))}
	var err error
	p.out, err = cells.New(p.Store, o)
	noError(t, err)
	return p
}

func (p *post[M]) begin(t testing.TB) {
	t.Helper()
	noError(t, p.init(p.self))
}

func (p *post[M]) init(self cells.ID) error {
	return errorOf(p.Frame(context.Background(), func(_ context.Context, w *store.Writer) error { return p.out.Init(w, self) }))
}

func (p *post[M]) tick(record func(q store.Queue)) (received []M, err error) {
	_, err = p.Frame(context.Background(), func(ctx context.Context, w *store.Writer) error {
		return p.out.Tick(func(ctx context.Context, _ *store.Writer, _ world.Tick) error {
			for _, m := range p.out.Received() {
				received = append(received, *m)
			}
			return p.Do(ctx, record)
		})(ctx, w, world.Tick{})
	})
	return received, err
}

func (p *post[M]) send(to cells.ID, messages ...M) (received []M, err error) {
	return p.tick(func(q store.Queue) {
		for _, m := range messages {
			p.out.Send(q, to, m)
		}
	})
}

func (p *post[M]) mustSend(t testing.TB, to cells.ID, messages ...M) []M {
	t.Helper()
	received, err := p.send(to, messages...)
	noError(t, err)
	return received
}

func (p *post[M]) enqueue(t testing.TB, record func(q store.Queue)) {
	t.Helper()
	noError(t, p.Inbox(func(q store.Queue) error { record(q); return nil }))
}

func (p *post[M]) submit(t testing.TB, packet []byte) {
	t.Helper()
	record, err := p.out.Open(packet)
	noError(t, err)
	noError(t, p.Inbox(record))
}

func newPacket(t testing.TB) (to *post[word], packet []byte) {
	t.Helper()
	a, b := newPost(t, cells.Options[word]{}), newPost(t, cells.Options[word]{})
	a.mustSend(t, b.self, word{Text: "hello"}, word{N: 1, Text: "hello"}, word{N: 2, Text: "hello"})
	return b, a.out.Pack(b.self, 0)
}

// Loading a cell does not change its numbers either.
func TestOutbox_NumbersIgnoreWorkers(t *testing.T) {
	self, other, third := cells.ID(1), cells.ID(2), cells.ID(3)
	setup := func(s *store.Store) (func(context.Context, int) error, error) {
		out, err := cells.New(s, cells.Options[int]{})
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, frame int) error {
			arrive(s, out, other, frame)
			return errorOf(s.Frame(ctx, func(ctx context.Context, w *store.Writer) error {
				if frame == 0 {
					if err := out.Init(w, self); err != nil {
						return err
					}
				}
				return out.Tick(func(ctx context.Context, _ *store.Writer, _ world.Tick) error {
					sum := 0
					for from, m := range out.Received() {
						sum = sum*31 + *m + int(from)
					}
					return s.Each(ctx, 40, func(task int, q store.Queue) {
						for i := range task % 5 {
							to := other
							if (task+i)%3 == 0 {
								to = third
							}
							out.Send(q, to, sum+frame*1000+task*10+i)
						}
					})
				})(ctx, w, world.Tick{})
			}))
		}, nil
	}
	storetest.Run(t, storetest.Options{Workers: []int{1, 2, 8}, Frames: 12}, setup)
	storetest.Reopen(t, storetest.Options{Workers: []int{1}, Frames: 12}, setup)
}

// arrive adds messages from a cell to the inbox, some repeated or too early, and a cursor.
func arrive(s *store.Store, out *cells.Outbox[int], from cells.ID, frame int) {
	_ = s.Inbox(func(q store.Queue) error {
		for i := range 7 {
			out.Arrived(q, from, uint64(max(1, frame*3+i-2)), frame*10+i)
		}
		out.Acked(q, from, uint64(frame*9))
		return nil
	})
}

func TestCursor_ErasesEachMessageOnce(t *testing.T) {
	a, other := newPost(t, cells.Options[int]{}), cells.ID(99)
	a.mustSend(t, other, 10, 11, 12, 13)
	for _, c := range []struct {
		known uint64
		left  int
	}{{3, 1}, {1, 1}, {4, 0}} {
		a.enqueue(t, func(q store.Queue) {
			a.out.Acked(q, other, c.known)
			a.out.Acked(q, other, 0) // a late cursor
		})
		a.mustSend(t, other)
		if left := 65_536 - a.out.Available(other); left != c.left {
			t.Errorf("cursor %d: %d messages wait, want %d", c.known, left, c.left)
		}
	}
	a.enqueue(t, func(q store.Queue) { a.out.Acked(q, other, 5) }) // only 4 messages exist
	a.mustSend(t, other)
	if err := a.out.Pairs()[1].Err; !errors.Is(err, cells.ErrGap) {
		t.Errorf("after a cursor ahead of the messages: %v, want ErrGap", err)
	}
}

// A receiver that is away takes no room from others, and refused messages return to the tick.
func TestSend_RefusesPastLimit(t *testing.T) {
	a := newPost(t, cells.Options[int]{Limit: 3})
	away, near := cells.ID(7), cells.ID(8)
	refused := func() (all []string) {
		for to, m := range a.out.Refused() {
			all = append(all, fmt.Sprint(uint64(to), "=", *m))
		}
		return all
	}
	for _, c := range []struct {
		to        cells.ID
		messages  []int
		refused   string
		available [2]int
	}{
		{away, []int{1, 2}, "[]", [2]int{1, 3}},
		{away, []int{3, 4, 5}, "[7=4 7=5]", [2]int{0, 3}},
		{near, []int{6, 7, 8}, "[]", [2]int{0, 0}},
		{away, []int{9}, "[7=9]", [2]int{0, 0}},
		{near, nil, "[]", [2]int{0, 0}},
	} {
		a.mustSend(t, c.to, c.messages...)
		if got := fmt.Sprint(refused()); got != c.refused {
			t.Errorf("sent %v: refused %v, want %v", c.messages, got, c.refused)
		}
		if got := [2]int{a.out.Available(away), a.out.Available(near)}; got != c.available {
			t.Errorf("sent %v: Available %v, want %v", c.messages, got, c.available)
		}
	}
	a.enqueue(t, func(q store.Queue) { a.out.Acked(q, away, 2) })
	a.mustSend(t, away, 10, 11, 12)
	if got := fmt.Sprint(refused()); got != "[7=12]" {
		t.Errorf("refused %v after two of three are acknowledged", got)
	}
}

// A handle of a refused message is given again after a Rollback, to another message.
func TestSend_RefusedBeforeARollbackErasesNothing(t *testing.T) {
	a := newPost(t, cells.Options[int]{Limit: 1})
	var before store.Checkpoint
	noError(t, a.Checkpoint(t.Context(), &before))
	a.mustSend(t, 7, 1, 2)
	noError(t, a.Rollback(t.Context(), &before))
	noError(t, errorOf(a.tick(func(q store.Queue) {
		a.out.Send(q, 7, 3)
		a.out.Send(q, 8, 4)
	})))
	waiting := 0
	for range a.DumpTable("message waiting", 0) {
		waiting++
	}
	if waiting != 2 {
		t.Errorf("%d messages wait, want 2", waiting)
	}
}

// A returning cell does not receive later messages as if it had the erased ones.
func TestAbandon_ErasesMessages(t *testing.T) {
	a, back := newPost(t, cells.Options[int]{Limit: 3}), newPost(t, cells.Options[int]{})
	other := cells.ID(7)
	a.mustSend(t, back.self, 1, 2)
	a.mustSend(t, other, 3)
	a.enqueue(t, func(q store.Queue) { a.out.Abandon(q, back.self) })
	a.mustSend(t, back.self, 4)
	a.mustSend(t, back.self) // Abandon applies once
	if room := a.out.Available(back.self); room != 2 || a.out.Pack(other, 0) == nil {
		t.Errorf("Available: %d, want 2", room)
	}
	back.submit(t, a.out.Pack(back.self, 2))
	if got := back.mustSend(t, a.self); len(got) > 0 || back.out.Cursor(a.self) != 0 {
		t.Errorf("received %v after a gap", got)
	}
}

// The Skip may precede all messages, or be ahead of the cursor or below it.
func TestSkip_SkipsOnlyItsMessages(t *testing.T) {
	a, b := newPost(t, cells.Options[int]{}), newPost(t, cells.Options[int]{})
	for i, c := range []struct {
		first, last uint64
		want        string
	}{{1, 2, "[13 14]"}, {1, 2, "[15 16 17 18]"}, {9, 9, "[20 21 22]"}, {15, 16, "[23 24]"}, {1, 16, "[27 28 29 30]"}} {
		n := 4*i + 11
		b.enqueue(t, func(q store.Queue) { b.out.Skip(q, a.self, c.first, c.last) })
		a.mustSend(t, b.self, n, n+1, n+2, n+3)
		b.submit(t, a.out.Pack(b.self, 0))
		if got := b.mustSend(t, a.self); fmt.Sprint(got) != c.want {
			t.Errorf("Skip of %d to %d: received %v, want %v", c.first, c.last, got, c.want)
		}
	}
}

func TestOutbox_RollsBackClonedMessages(t *testing.T) {
	p := newPost(t, cells.Options[[]int]{Clone: func(dst, src *[]int) { *dst = append((*dst)[:0], *src...) }})
	p.mustSend(t, 2, []int{3, 4})
	noError(t, p.Write(t.Context(), func(w *store.Writer) {
		p.out.DeadLetters().Insert(w, cells.DeadLetter[[]int]{From: 5, Number: 1, Tick: 2, Error: "boom", Message: []int{3, 4}})
	}))
	before := digest(t, p.Store)
	var c store.Checkpoint
	noError(t, p.Checkpoint(t.Context(), &c))
	noError(t, p.Write(t.Context(), func(*store.Writer) {
		for _, d := range p.out.DeadLetters().All() {
			*d = cells.DeadLetter[[]int]{Message: append(d.Message[:0], 5)}
		}
	}))
	noError(t, p.Rollback(t.Context(), &c))
	if digest(t, p.Store) != before {
		t.Error("Rollback: another state")
	}
}

func TestOutbox_ReportsMisuse(t *testing.T) {
	p := newOutbox(t, cells.Options[int]{})
	_, negative := cells.New(p.Store, cells.Options[int]{Limit: -1})
	twice, _ := maptest.PanicOf(func() { _, _ = cells.New(p.Store, cells.Options[int]{}) }).(error)
	_, functions := cells.New(p.Store, cells.Options[func()]{Name: "orders", Links: func(*func(), func(*store.ID)) {}})
	for _, text := range []string{"7", "0000000000000007:0-1", "0000000000000007:3-2", "7:1-1", "0000000000000007:1-2x", "0000000000000007:+1-2"} {
		if _, err := cells.New(p.Store, cells.Options[int]{Name: "skips", Skip: text}); err == nil || !strings.Contains(err.Error(), "CELL:FIRST-LAST") {
			t.Errorf("Skip %q: %v", text, err)
		}
	}
	_, idle := p.send(7)
	none := p.init(0)
	p.begin(t)
	_, nowhere := p.send(0, 1)
	for _, c := range []struct {
		what  string
		err   error
		names string
	}{
		{"a limit of -1", negative, ""},
		{"two outboxes of one name", twice, ""},
		{"an outbox of functions", functions, ""},
		{"a tick without an ID", idle, "Init"},
		{"the ID 0", none, ""},
		{"a second ID", p.init(6), ""},
		{"Send to no cell", nowhere, "NewID"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.names) {
			t.Errorf("%s: %v, want an error with %q", c.what, c.err, c.names)
		}
	}
}

// Also checks packets of other cells and programs.
func TestPacket_RefusesInvalidBytes(t *testing.T) {
	b, good := newPacket(t)
	for n := range good {
		if _, err := b.out.Open(good[:n]); err == nil {
			t.Errorf("Open accepts the first %d of %d bytes", n, len(good))
		}
	}
	many := append([]byte(nil), good...)
	many[28], many[29] = 0, 16 // count 4,096, with three messages
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _ = b.out.Open(many)
	runtime.ReadMemStats(&after)
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 1<<16 {
		t.Errorf("%d bytes allocated for missing messages", bytes)
	}
	if _, err := b.out.Open(append(good, 0)); err == nil {
		t.Error("Open accepts an additional byte")
	}
	_, err := newPost(t, cells.Options[int]{}).out.Open(good)
	if err == nil || !strings.Contains(err.Error(), "another type") {
		t.Errorf("messages of another type: %v", err)
	}
}
