package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"handloom/cluster/cells"
	"handloom/internal/check"
	"handloom/internal/entry"
	"handloom/world"
)

// A Client calls cells. Its methods may be called by any goroutine.
type Client struct {
	conn *connection

	closing sync.Once

	mutex  sync.Mutex
	clocks map[CellID]time.Duration // time of a cell's ticks minus this clock
}

// Dial returns a client with a connection of its own. It waits up to 30 s for a server.
func Dial(ctx context.Context, servers Servers) (*Client, error) {
	check.Given(ctx != nil, "cluster: Dial", "context")
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	conn, err := servers.connect(ctx, "_INBOX")
	if err != nil {
		return nil, err
	}
	return &Client{conn: conn, clocks: make(map[CellID]time.Duration)}, nil
}

// Close ends the client. Running calls return [ErrClosed].
func (c *Client) Close() error {
	c.closing.Do(c.conn.release)
	return nil
}

const (
	maxAnswer   = time.Second // until a call is sent again
	callHeaders = 1 << 10     // bytes of a message that are not body, at most
)

// Call sends body to a cell and returns its reply. Calls of [world.Requests] count once: Call
// makes a key, finds the node that leads the cell, and repeats the call with this key until a
// reply arrives or ctx ends, also after a takeover.
//
// After [ErrNoCell], [ErrRefused] for a call that did not reach Submit, and the error for a body
// that does not fit a message of the servers (1 MiB by default), nothing is applied. After
// [world.ErrExpired], [ErrClosed] and the cause of ctx the call may have been applied, or may be
// later. The last one wraps [cells.ErrUnreachable] if no node led the cell when ctx ended.
func (c *Client) Call(ctx context.Context, cell CellID, body []byte) (reply []byte, err error) {
	check.Given(ctx != nil, "cluster: Call", "context")
	if limit := int(c.conn.MaxPayload()) - callHeaders; len(body) > limit {
		return nil, fmt.Errorf("cluster: Call: body: got %d bytes, want at most %d", len(body), limit)
	}
	for range 2 {
		var sent int
		reply, sent, err = c.call(ctx, cell, c.newKey(cell), body)
		if sent > 1 || !errors.Is(err, world.ErrExpired) {
			break
		}
		// The only attempt was refused: this clock differs from the cell's, which is known now.
	}
	return reply, err
}

// newKey returns a key for a call of now, by the time of the cell's ticks. With a wrong time a
// call still counts once, or is refused.
func (c *Client) newKey(cell CellID) string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return entry.CallKey(time.Now().Add(c.clocks[cell]).UnixNano(), rand.Text())
}

func (c *Client) noteTime(cell CellID, nanos int64) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.clocks[cell] = time.Until(time.Unix(0, nanos))
}

// call sends a call until it is answered. sent is the number of attempts that may have arrived.
func (c *Client) call(ctx context.Context, cell CellID, key string, body []byte) (reply []byte, sent int, err error) {
	wait, known := firstAnswer, false
	err = retry(ctx, isFinal, func(ctx context.Context) error {
		reply, err = c.request(ctx, cell, key, body, wait)
		if !errors.Is(err, cells.ErrUnreachable) {
			sent++
			wait = min(2*wait, maxAnswer)
			return err
		}
		if !known && sent == 0 {
			var none bool
			if none, known = c.lacks(ctx, cell); none {
				return ErrNoCell
			}
		}
		return err
	})
	if err != nil {
		return nil, sent, fmt.Errorf("cluster: Call: cell %v: %w", cell, err)
	}
	return reply, sent, nil
}

func isFinal(err error) bool {
	return isAny(err, ErrNoCell, ErrRefused, ErrClosed, world.ErrExpired)
}

// lacks reports whether a cell has neither a place on nodes nor a log. Clients without the right to
// ask do not know.
func (c *Client) lacks(ctx context.Context, cell CellID) (none, known bool) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	bucket, err := c.conn.js.KeyValue(ctx, bucketName)
	if err == nil {
		_, err = bucket.Get(ctx, cellPrefix+cell.String())
	}
	if !errors.Is(err, jetstream.ErrBucketNotFound) && !errors.Is(err, jetstream.ErrKeyNotFound) {
		return false, err == nil
	}
	_, err = c.conn.js.Stream(ctx, cell.Stream())
	return errors.Is(err, jetstream.ErrStreamNotFound), err == nil
}

// request sends a call once and waits for the reply.
func (c *Client) request(ctx context.Context, cell CellID, key string, body []byte, wait time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	m := nats.NewMsg(callSubject(cell))
	m.Data = body
	m.Header.Set(keyHeader, key)
	r, err := c.conn.RequestMsgWithContext(ctx, m)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return nil, cells.ErrUnreachable
	case errors.Is(err, nats.ErrConnectionClosed):
		return nil, ErrClosed
	case err != nil && ctx.Err() != nil:
		return nil, errNoReply
	case err != nil:
		return nil, err
	}
	if nanos, err := strconv.ParseInt(r.Header.Get(timeHeader), 10, 64); err == nil {
		c.noteTime(cell, nanos)
	}
	switch status := r.Header.Get(statusHeader); status {
	case statusDone:
		return r.Data, nil
	case statusAgain:
		return nil, fmt.Errorf("the node repeats later: %s", r.Data)
	case statusExpired:
		return nil, world.ErrExpired
	case statusRefused:
		return nil, fmt.Errorf("%w: %s", ErrRefused, r.Data)
	default:
		return nil, fmt.Errorf("reply: status: got %q, want %q", status, statusDone)
	}
}

var errNoReply = errors.New("no reply yet: the call may count now or later; wait longer, or read the state")
