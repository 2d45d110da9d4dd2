package cluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"

	"handloom/internal/check"
	"handloom/internal/entrance"
	"handloom/store"
	"handloom/world"
)

// A Call is a call of [Client.Call] for the node that leads the cell.
type Call struct {
	Key  string // for [world.Requests.Submit]; equal for all repetitions of a call
	Body []byte
}

// Call and reply are messages with headers:
//
//	call    handloom.call.<cell>  Handloom-Key
//	reply   the call's inbox      Handloom-Status: see below; Handloom-Time: of the cell's next tick
//
// The body of a reply that is not done is the text of an error.
const (
	callPrefix   = "handloom.call."
	keyHeader    = "Handloom-Key"
	statusHeader = "Handloom-Status"
	timeHeader   = "Handloom-Time"

	statusDone    = "done"
	statusAgain   = "again"   // another attempt may succeed
	statusExpired = "expired" // [world.ErrExpired]
	statusRefused = "refused"
)

func callSubject(cell CellID) string { return callPrefix + cell.String() }

const (
	// maxCalls is the number of calls of a cell processed at a time; others are repeated.
	maxCalls = 1 << 12

	// leaderCheck is the time between checks whether w leads, if the Log appends nothing.
	leaderCheck = 250 * time.Millisecond
)

// Serve answers calls of clients while w, the World of this Log, leads, until ctx ends or the Log
// is closed. It returns that cause.
//
// serve runs in a goroutine per call, at most once at a time for each key. Its reply must be
// repeatable. A reply of [world.Requests.Submit] is repeatable, and a call then counts once. serve
// may read w instead. A refusal by the program belongs in the reply. An error, or a panic, is [ErrRefused]
// for the caller, with its text, except the errors after which another attempt may succeed, such
// as [world.ErrNotLeader] and [store.ErrUncertain]: the caller repeats the call.
func (l *Log) Serve(ctx context.Context, w *world.World, serve func(ctx context.Context, c Call) (reply []byte, err error)) error {
	check.Given(ctx != nil, "cluster: Serve", "context")
	check.Given(w != nil, "cluster: Serve", "World")
	check.Given(serve != nil, "cluster: Serve", "function")
	ctx, cancel := l.untilClosed(ctx)
	f := &front{log: l, world: w, serve: serve, ctx: ctx, arrived: make(chan *nats.Msg, maxCalls)}
	f.working.SetLimit(maxCalls)
	defer func() { _ = f.working.Wait() }()
	defer cancel()
	defer func() { _ = f.turn(false) }()
	for wait := firstRetry; ; wait = min(2*wait, leaderCheck) {
		if err := f.turn(w.Entrance(entrance.Key{}).Leader); err != nil {
			return fmt.Errorf("cluster: Serve: %w", l.withCause(ctx, err))
		}
		if f.receive(wait) {
			wait = firstRetry / 2 // the World learns soon that it leads
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// A front answers the calls of a cell. Only the leader subscribes, so that callers learn at once
// that a cell has no leader.
type front struct {
	log     *Log
	world   *world.World
	serve   func(ctx context.Context, c Call) (reply []byte, err error)
	ctx     context.Context
	sub     *nats.Subscription
	arrived chan *nats.Msg
	working errgroup.Group
	calls   singleflight.Group // by key
}

// turn subscribes or unsubscribes.
func (f *front) turn(leads bool) (err error) {
	switch {
	case leads && f.sub == nil:
		f.sub, err = f.log.conn.ChanSubscribe(callSubject(f.log.cell), f.arrived)
	case !leads && f.sub != nil:
		_ = f.sub.Unsubscribe()
		f.sub = nil
	}
	return err
}

// receive receives calls for the time wait, or until the Log reports that its World may have
// begun or ceased to lead.
func (f *front) receive(wait time.Duration) (changed bool) {
	over := time.NewTimer(wait)
	defer over.Stop()
	for {
		select {
		case m := <-f.arrived:
			if !f.working.TryGo(func() error { f.answer(m); return nil }) {
				f.reply(m, nil, errBusy)
			}
		case <-f.log.led:
			return true
		case <-over.C:
			return false
		case <-f.ctx.Done():
			return false
		}
	}
}

var (
	errBusy  = errors.New("too many calls")
	errNoKey = errors.New("header " + keyHeader + ": got none; use Client.Call")
)

func (f *front) answer(m *nats.Msg) {
	key := m.Header.Get(keyHeader)
	if key == "" {
		f.reply(m, nil, errNoKey)
		return
	}
	reply, err, _ := f.calls.Do(key, func() (any, error) { return f.play(Call{key, m.Data}) })
	body, _ := reply.([]byte)
	if limit := int(f.log.conn.MaxPayload()) - callHeaders; err == nil && len(body) > limit {
		err = fmt.Errorf("reply: got %d bytes, want at most %d", len(body), limit)
	}
	f.reply(m, body, err)
}

// play calls serve. A panic must not end the node, because the caller would repeat the call to the
// next one.
func (f *front) play(c Call) (reply []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("serve: panic: %v", p)
		}
	}()
	return f.serve(f.ctx, c)
}

func (f *front) reply(m *nats.Msg, body []byte, err error) {
	r := nats.NewMsg(m.Reply)
	r.Header.Set(statusHeader, statusOf(err))
	if r.Data = body; err != nil {
		text := err.Error()
		r.Data = []byte(text[:min(len(text), callHeaders)])
	}
	next := time.Now().Add(-f.world.Entrance(entrance.Key{}).ClockOff)
	r.Header.Set(timeHeader, strconv.FormatInt(next.UnixNano(), 10))
	_ = f.log.conn.PublishMsg(r) // a lost reply is asked for again
}

func statusOf(err error) string {
	switch {
	case err == nil:
		return statusDone
	case errors.Is(err, world.ErrExpired):
		return statusExpired
	case isAny(err, errBusy, world.ErrNotLeader, world.ErrTick, store.ErrUncertain, store.ErrQueueFull, store.ErrClosed,
		ErrClosed, context.Canceled, context.DeadlineExceeded):
		return statusAgain
	}
	return statusRefused
}
