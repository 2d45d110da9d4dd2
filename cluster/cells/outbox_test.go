package cells_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"handloom/cluster/cells"
	"handloom/store"
	"handloom/store/storetest"
	"handloom/world"
)

type ticks = func(ctx context.Context, w *store.Writer, t world.Tick) error

// play plays a tick on a store that no world has.
func play(t testing.TB, s *store.Store, around func(ticks) ticks, before func(w *store.Writer), in func(ctx context.Context) error) {
	t.Helper()
	noError(t, tryPlay(s, around, before, in))
}

func tryPlay(s *store.Store, around func(ticks) ticks, before func(w *store.Writer), in func(ctx context.Context) error) error {
	return s.Write(context.Background(), func(ctx context.Context, w *store.Writer) error {
		if before != nil {
			before(w)
		}
		return around(func(ctx context.Context, _ *store.Writer, _ world.Tick) error { return in(ctx) })(ctx, w, world.Tick{})
	})
}

// recording returns a tick that records commands.
func recording(s *store.Store, record func(q store.Queue)) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		return s.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
			record(q)
			return nil
		})
	}
}

// begin begins a cell.
func begin[M any](t testing.TB, s *store.Store, out *cells.Outbox[M], own cells.ID) {
	t.Helper()
	noError(t, s.Write(t.Context(), func(_ context.Context, w *store.Writer) error { return out.Init(w, own) }))
}

// newParcel returns the parcel of a town with three words for the town to.
func newParcel(t testing.TB) (to *town, parcel []byte) {
	t.Helper()
	a, b := newTown(t, 1, cells.Options[word]{}), newTown(t, 1, cells.Options[word]{})
	begin(t, a.Store, a.out, 1)
	begin(t, b.Store, b.out, 2)
	play(t, a.Store, a.out.Tick, nil, recording(a.Store, func(q store.Queue) {
		for n := range uint64(3) {
			a.out.Send(q, 2, word{N: n, Text: "hello"})
		}
	}))
	return b, a.out.Pack(2, 0)
}

// submit has the next tick be given a parcel.
func submit[M any](t testing.TB, s *store.Store, out *cells.Outbox[M], parcel []byte) {
	t.Helper()
	record, err := out.Open(parcel)
	noError(t, err)
	noError(t, s.Inbox(record))
}

// A post is a store with an outbox of numbers.
type post struct {
	*store.Store
	out *cells.Outbox[int]
	own cells.ID
}

func newPost(t testing.TB, o cells.Options[int]) *post {
	t.Helper()
	s, err := store.New(store.Options{})
	noError(t, err)
	p := &post{Store: s, own: cells.NewID()}
	if p.out, err = cells.New(s, o); err != nil {
		t.Fatal(err)
	}
	begin(t, s, p.out, p.own)
	return p
}

// send plays a tick that sends numbers, and returns what it received.
func (p *post) send(to cells.ID, numbers ...int) (received []int, err error) {
	err = tryPlay(p.Store, p.out.Tick, nil, func(ctx context.Context) error {
		for _, m := range p.out.Received() {
			received = append(received, *m)
		}
		return p.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
			for _, n := range numbers {
				p.out.Send(q, to, n)
			}
			return nil
		})
	})
	return received, err
}

func (p *post) mustSend(t testing.TB, to cells.ID, numbers ...int) []int {
	t.Helper()
	received, err := p.send(to, numbers...)
	noError(t, err)
	return received
}

func (p *post) tell(t testing.TB, record func(q store.Queue)) {
	t.Helper()
	noError(t, p.Inbox(func(q store.Queue) error { record(q); return nil }))
}

// Whatever the number of workers, and their order, the messages of a tick have the same
// numbers, and a cell that is loaded goes on as if it had stayed.
func TestNumbersAreTheSameForAnyNumberOfWorkers(t *testing.T) {
	own, other, third := cells.ID(1), cells.ID(2), cells.ID(3)
	setup := func(s *store.Store) (func(context.Context, int) error, error) {
		out, err := cells.New(s, cells.Options[int]{})
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, frame int) error {
			arrive(s, out, other, frame)
			return s.Write(ctx, func(ctx context.Context, w *store.Writer) error {
				if frame == 0 {
					if err := out.Init(w, own); err != nil {
						return err
					}
				}
				return out.Tick(func(ctx context.Context, _ *store.Writer, _ world.Tick) error {
					sum := 0
					for from, m := range out.Received() {
						sum = sum*31 + *m + int(from)
					}
					return s.Each(ctx, 40, func(_ context.Context, task int, q store.Queue) error {
						for i := range task % 5 {
							to := other
							if (task+i)%3 == 0 {
								to = third
							}
							out.Send(q, to, sum+frame*1000+task*10+i)
						}
						return nil
					})
				})(ctx, w, world.Tick{})
			})
		}, nil
	}
	storetest.Run(t, storetest.Options{Workers: []int{1, 2, 8}, Frames: 12}, setup)
	storetest.Reopen(t, storetest.Options{Workers: []int{1}, Frames: 12}, setup)
}

// arrive leaves what comes from a cell in the inbox: some of it not for the first time,
// some too early, and what it has received.
func arrive(s *store.Store, out *cells.Outbox[int], from cells.ID, frame int) {
	_ = s.Inbox(func(q store.Queue) error {
		for i := range 7 {
			out.Arrived(q, from, uint64(max(1, frame*3+i-2)), frame*10+i)
		}
		out.Acked(q, from, uint64(frame*9))
		return nil
	})
}

func TestMessagesComeOnceAndInOrder(t *testing.T) {
	a, b := newPost(t, cells.Options[int]{}), newPost(t, cells.Options[int]{})
	a.mustSend(t, b.own, 10, 11)
	first := a.out.Pack(b.own, 0)
	a.mustSend(t, b.own, 12, 13)
	all, early := a.out.Pack(b.own, 0), a.out.Pack(b.own, 2)
	for _, parcel := range [][]byte{early, first, first, early, all, first} {
		submit(t, b.Store, b.out, parcel)
	}
	if got := b.mustSend(t, a.own); fmt.Sprint(got) != "[10 11 12 13]" {
		t.Errorf("received in one tick: %v", got)
	}
	submit(t, b.Store, b.out, all)
	if got := b.mustSend(t, a.own); len(got) != 0 || b.out.Cursor(a.own) != 4 {
		t.Errorf("received again: %v", got)
	}
	for _, table := range b.Stats().Tables {
		if table.Name == "message arrived" && table.Live != 0 {
			t.Errorf("%d messages are kept", table.Live)
		}
	}
	for _, c := range []struct {
		known        uint64
		left, erased int
	}{{3, 1, 3}, {1, 1, 3}, {4, 0, 1}} {
		a.tell(t, func(q store.Queue) {
			a.out.Acked(q, b.own, c.known)
			a.out.Acked(q, b.own, 0) // one that was under way for long
		})
		a.mustSend(t, b.own)
		if left := 65_536 - a.out.Room(); left != c.left || a.out.Erased() != c.erased {
			t.Errorf("behind the cursor %d, %d messages wait, and %d were erased", c.known, left, a.out.Erased())
		}
	}
	if a.out.Pack(b.own, 4) != nil {
		t.Error("there is a message behind the last one")
	}
}

// A cell that has more messages than were ever sent to it is not the one that it was.
func TestPair_StopsAtACursorAhead(t *testing.T) {
	a, other := newPost(t, cells.Options[int]{}), cells.NewID()
	a.mustSend(t, other, 1, 2)
	for _, cursor := range []uint64{2, 3} {
		a.tell(t, func(q store.Queue) { a.out.Acked(q, other, cursor) })
		a.mustSend(t, other)
		if err := a.out.Pairs()[1].Err; errors.Is(err, cells.ErrGap) != (cursor == 3) {
			t.Errorf("of 2 messages it has %d: %v", cursor, err)
		}
	}
}

func TestAFullOutboxFailsTheTick(t *testing.T) {
	a := newPost(t, cells.Options[int]{Limit: 3})
	a.mustSend(t, 7, 1, 2)
	if room := a.out.Room(); room != 1 {
		t.Errorf("there is room for %d", room)
	}
	if _, err := a.send(7, 3, 4); !errors.Is(err, store.ErrFull) {
		t.Errorf("the tick: %v; want ErrFull", err)
	}
}

// Messages to a cell that is gone make room, and are not taken for received when it
// comes back.
func TestACellThatIsGoneIsAbandoned(t *testing.T) {
	a, back := newPost(t, cells.Options[int]{Limit: 3}), newPost(t, cells.Options[int]{})
	other := cells.ID(7)
	a.mustSend(t, back.own, 1, 2)
	a.mustSend(t, other, 3)
	a.tell(t, func(q store.Queue) { a.out.Abandon(q, back.own) })
	a.mustSend(t, back.own, 4)
	a.mustSend(t, back.own) // it is not abandoned again
	if room := a.out.Room(); room != 1 || a.out.Pack(other, 0) == nil {
		t.Errorf("there is room for %d, want 1", room)
	}
	submit(t, back.Store, back.out, a.out.Pack(back.own, 2))
	if got := back.mustSend(t, a.own); len(got) > 0 || back.out.Cursor(a.own) != 0 {
		t.Errorf("received: %v, and what was before it was not", got)
	}
}

// A Skip is of its messages alone, whenever it comes: before any was received, ahead of the
// cursor, or behind it.
func TestASkipIsOfItsMessagesAlone(t *testing.T) {
	a, b := newPost(t, cells.Options[int]{}), newPost(t, cells.Options[int]{})
	for i, c := range []struct {
		first, last uint64
		want        string
	}{{1, 2, "[13 14]"}, {1, 2, "[15 16 17 18]"}, {9, 9, "[20 21 22]"}, {15, 16, "[23 24]"}, {1, 16, "[27 28 29 30]"}} {
		n := 4*i + 11
		b.tell(t, func(q store.Queue) { b.out.Skip(q, a.own, c.first, c.last) })
		a.mustSend(t, b.own, n, n+1, n+2, n+3)
		submit(t, b.Store, b.out, a.out.Pack(b.own, 0))
		if got := b.mustSend(t, a.own); fmt.Sprint(got) != c.want {
			t.Errorf("messages %d to %d are skipped: received %v, want %v", c.first, c.last, got, c.want)
		}
	}
}

// A checkpoint of messages that are cloned has their numbers, and the cells they are for.
func TestAClonedMessageIsTheSame(t *testing.T) {
	s, err := store.New(store.Options{})
	noError(t, err)
	out, err := cells.New(s, cells.Options[[]int]{Clone: func(dst, src *[]int) { *dst = slices.Clone(*src) }})
	noError(t, err)
	begin(t, s, out, 1)
	play(t, s, out.Tick, nil, recording(s, func(q store.Queue) {
		out.Send(q, 2, []int{3, 4})
	}))
	before := digest(t, s)
	var c store.Checkpoint
	noError(t, s.Checkpoint(t.Context(), &c))
	noError(t, s.Rollback(t.Context(), &c))
	if digest(t, s) != before {
		t.Error("the state behind a rollback is another one")
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	s, err := store.New(store.Options{})
	noError(t, err)
	if _, err := cells.New(s, cells.Options[int]{Limit: -1}); err == nil {
		t.Error("an outbox with a limit of -1")
	}
	out, err := cells.New(s, cells.Options[int]{})
	noError(t, err)
	if _, err := cells.New(s, cells.Options[int]{}); err == nil {
		t.Error("two outboxes of one name")
	}
	if _, err := cells.New(s, cells.Options[func()]{Name: "orders", Links: func(*func(), func(*store.ID)) {}}); err == nil {
		t.Error("an outbox of functions")
	}
	idle := func(context.Context) error { return nil }
	if err := tryPlay(s, out.Tick, nil, idle); err == nil || !strings.Contains(err.Error(), "Init") {
		t.Errorf("a tick without an ID: %v", err)
	}
	for _, own := range []cells.ID{0, 5, 6} {
		err := s.Write(t.Context(), func(_ context.Context, w *store.Writer) error { return out.Init(w, own) })
		if (err == nil) != (own == 5) {
			t.Errorf("Init as %v: %v", own, err)
		}
	}
	err = tryPlay(s, out.Tick, nil, recording(s, func(q store.Queue) {
		out.Send(q, 0, 1)
	}))
	if panicked := new(store.PanicError); !errors.As(err, &panicked) || !strings.Contains(fmt.Sprint(panicked.Value), "NewID") {
		t.Errorf("Send to no cell: %v", err)
	}
}

func TestATickThatEndsItsFrameIsTold(t *testing.T) {
	a := newPost(t, cells.Options[int]{})
	err := a.Write(t.Context(), func(ctx context.Context, w *store.Writer) error {
		send := func(ctx context.Context) error {
			err := a.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
				a.out.Send(q, 9, 1)
				return nil
			})
			if err == nil {
				_, err = a.Flush(ctx)
			}
			return err
		}
		return a.out.Tick(func(ctx context.Context, w *store.Writer, _ world.Tick) error {
			if err := send(ctx); err != nil {
				return err
			}
			w.EndFrame()
			return send(ctx)
		})(ctx, w, world.Tick{})
	})
	if err == nil || !strings.Contains(err.Error(), "EndFrame") {
		t.Errorf("the tick: %v", err)
	}
}

// A parcel that is cut, or of another cell or program, is refused.
func TestBadParcelsAreRefused(t *testing.T) {
	b, good := newParcel(t)
	for n := range good {
		if _, err := b.out.Open(good[:n]); err == nil {
			t.Errorf("the first %d of %d bytes are taken for a parcel", n, len(good))
		}
	}
	many := append([]byte(nil), good...)
	many[41], many[42] = 0, 16 // 4,096 messages, of which three are there
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _ = b.out.Open(many)
	runtime.ReadMemStats(&after)
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 1<<16 {
		t.Errorf("%d bytes for messages that are not there", bytes)
	}
	if _, err := b.out.Open(append(good, 0)); err == nil {
		t.Error("a byte is left, and it is taken for a parcel")
	}
	if _, err := newPost(t, cells.Options[int]{}).out.Open(good); err == nil || !strings.Contains(err.Error(), "another outbox, or type") {
		t.Errorf("messages of another type: %v", err)
	}
	if _, err := newTown(t, 1, cells.Options[word]{Name: "whisper"}).out.Open(good); err == nil || !strings.Contains(err.Error(), "another outbox, or type") {
		t.Errorf("messages of another outbox: %v", err)
	}
}
