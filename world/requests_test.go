package world_test

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"testing/synctest"
	"time"

	"handloom/internal/entry"
	"handloom/store"
	"handloom/world"
)

// A till adds each request to a sum, which is the answer. A negative one panics.
type till struct {
	*world.World
	requests *world.Requests[int, int]
	sum      *store.Value[int]
}

const (
	tillLimit = 3
	tillKeep  = time.Minute
)

func openTill(t *testing.T, l world.Log, shadow float64) *till {
	t.Helper()
	s := store.New(store.Options{})
	a := &till{requests: world.NewRequests[int, int](s, "request", tillLimit, tillKeep)}
	a.sum = store.AddValue[int](s, store.ColumnOptions[int]{Name: "sum"})
	var err error
	a.World, err = world.Open(t.Context(), s, l, world.Options{
		Version: "till", Hz: 60, DigestTicks: 1, Shadow: shadow,
		Tick: a.requests.Tick(func(_ *store.Writer, _ world.Tick, n int) int {
			if n < 0 {
				panic("negative")
			}
			*a.sum.Get() += n
			return *a.sum.Get()
		}),
	})
	noError(t, err)
	return a
}

func (a *till) submit(ctx context.Context, key string, n int) *outcome[int] {
	return aside(func() (int, error) { return a.requests.Submit(ctx, a.World, key, n) })
}

func (a *till) want(t *testing.T, key string, n, sum int, wants ...error) {
	t.Helper()
	got := a.submit(t.Context(), key, n)
	mustStep(t, a.World)
	wantAnswer(t, got, sum, wants...)
}

func wantAnswer(t *testing.T, g *outcome[int], sum int, wants ...error) {
	t.Helper()
	synctest.Wait()
	if wantError(t, g.err, wants...); !g.done || g.result != sum || g.err != nil && len(wants) == 0 {
		t.Errorf("got %+v, want %d, %v", *g, sum, wants)
	}
}

func TestRequests_CountOnce(t *testing.T) {
	inBubble(t, "repeated, also after a restart", func(t *testing.T) {
		l := world.Memory()
		a := openTill(t, l, 1)
		first, second := a.submit(t.Context(), "a", 5), a.submit(t.Context(), "a", 5)
		mustStep(t, a.World)
		wantAnswer(t, first, 5)
		wantAnswer(t, second, 5)
		a.want(t, "b", 2, 7)
		a.want(t, "a", 6, 0, store.ErrDuplicate)
		for range 2 {
			crash(t, a.World)
			a = openTill(t, l, 1)
			a.want(t, "a", 5, 5)
			a.want(t, "b", 2, 7)
		}
		mustClose(t, a.World)
	})
	inBubble(t, "repeated after an unknown outcome", func(t *testing.T) {
		l := &faulty{Log: world.Memory()}
		a := openTill(t, l, 1)
		l.append = func(ctx context.Context, _ uint64, _ []byte) (uint64, error) {
			<-ctx.Done()
			return 0, context.Cause(ctx)
		}
		ctx, cancel := context.WithCancel(t.Context())
		got := a.submit(ctx, "a", 5)
		hung, end := context.WithCancel(t.Context())
		stepped := make(chan error)
		go func() { stepped <- errorOf(a.Step(hung)) }()
		synctest.Wait()
		cancel()
		wantAnswer(t, got, 0, store.ErrUncertain)
		end()
		wantError(t, <-stepped, context.Canceled)
		l.append = nil
		mustStep(t, a.World) // completes the append
		a.want(t, "a", 5, 5)
		equal(t, "sum", *a.sum.Get(), 5)
		mustClose(t, a.World)
	})
	inBubble(t, "repeated while the table is full", func(t *testing.T) {
		a := openTill(t, world.Memory(), 1)
		for i, key := range []string{"a", "b", "c"} {
			a.want(t, key, 1, i+1)
		}
		a.want(t, "d", 1, 0, store.ErrFull)
		a.want(t, "b", 1, 2)
		mustClose(t, a.World)
	})
	inBubble(t, "on a follower", func(t *testing.T) {
		l := world.Memory()
		a, b := openTill(t, l, 1), openTill(t, l, 1)
		a.want(t, "a", 5, 5)
		mustStep(t, b.World)
		wantAnswer(t, b.submit(t.Context(), "a", 5), 5)
		wantAnswer(t, b.submit(t.Context(), "b", 5), 0, world.ErrNotLeader)
		mustClose(t, a.World, b.World)
	})
	inBubble(t, "canceled before a tick", func(t *testing.T) {
		a := openTill(t, world.Memory(), 1)
		ctx, cancel := context.WithCancel(t.Context())
		got := a.submit(ctx, "a", 5)
		cancel()
		wantAnswer(t, got, 0, context.Canceled)
		failIf(t, errors.Is(got.err, store.ErrUncertain), "got %v", got.err)
		a.want(t, "a", 6, 6)
		mustClose(t, a.World)
	})
}

func TestRequests_ForgetOldAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := openTill(t, world.Memory(), 1)
		a.want(t, "a", 5, 5)
		until := func(tick uint64) {
			for a.Status().Tick < tick {
				time.Sleep(time.Second / 60)
				mustStep(t, a.World)
			}
		}
		until(1024) // 17 s
		a.want(t, "a", 5, 5)
		until(4*1024 - 2)
		a.want(t, "a", 5, 5)
		for range 2 { // forgotten in tick 4,096, after 68 s
			a.want(t, "a", 5, 10)
		}
		mustClose(t, a.World)
	})
}

// The state of a failed tick answers nothing.
func TestRequests_HaltedWorldAnswersNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := openTill(t, world.Memory(), 0) // a shadow takes back a tick that fails
		good, bad := a.submit(t.Context(), "a", 5), a.submit(t.Context(), "b", -1)
		wantError(t, errorOf(a.Step(t.Context())), world.ErrTick)
		wantAnswer(t, good, 0, world.ErrTick)
		wantAnswer(t, bad, 0, world.ErrTick)
		for _, key := range []string{"a", "b", "c"} {
			got := a.submit(t.Context(), key, 5)
			wantAnswer(t, got, 0, world.ErrNotLeader)
			failIf(t, errors.Is(got.err, fs.ErrClosed) || errors.Is(got.err, store.ErrUncertain), "got %v", got.err)
		}
		mustClose(t, a.World)
	})
}

// A key with a time counts once, however late it is repeated. The answer to a key of a clock that
// is ahead stays for longer.
func TestRequests_RefuseExpiredCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := openTill(t, world.Memory(), 1)
		mustStep(t, a.World)
		key := func(after time.Duration, id string) string {
			return entry.CallKey(time.Now().Add(after).UnixNano(), id)
		}
		first, ahead := key(0, "a"), key(tillKeep/2, "b")
		a.want(t, ahead, 1, 1)
		for a.Status().Tick < 8*1024 {
			time.Sleep(time.Second / 60)
			switch tick := a.Status().Tick; {
			case tick%100 == 0 && tick < 4000:
				a.want(t, first, 5, 6)
			case tick%100 == 0 && tick > 4100: // forgotten in tick 4,096
				a.want(t, first, 5, 0, world.ErrExpired)
			default:
				mustStep(t, a.World)
			}
			if a.Status().Tick == 5000 { // 83 s
				a.want(t, ahead, 1, 1)
			}
		}
		a.want(t, ahead, 1, 0, world.ErrExpired)
		a.want(t, key(2*tillKeep, "c"), 1, 0, world.ErrExpired)
		a.want(t, key(tillKeep/2, "d"), 1, 7)
		mustClose(t, a.World)
	})
}
