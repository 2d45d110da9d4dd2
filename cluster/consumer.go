package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// Interval of heartbeats of the sending server.
	heartbeat = 500 * time.Millisecond
	expiry    = 10 * time.Second

	// Prefetch limits.
	pullBytes    = 8 << 20
	pullMessages = 512

	idleTime      = 5 * time.Second // without reads, until the server removes a consumer
	checkInterval = time.Second     // without messages, until the leader is asked
)

type consumer struct {
	messages    jetstream.MessagesContext
	seq         uint64 // next sequence
	lastMessage time.Time
	number      uint64 // position of the last message among the messages of the consumer
}

var errNoMessage = errors.New("no message")

// next waits up to checkInterval for the next message, and sets c.seq to the sequence after it.
func (c *consumer) next(ctx context.Context) (jetstream.Msg, error) {
	wait, cancel := context.WithTimeout(ctx, checkInterval)
	defer cancel()
	msg, err := c.messages.Next(jetstream.NextContext(wait))
	if err != nil {
		if wait.Err() != nil && ctx.Err() == nil {
			err = errNoMessage
		}
		return nil, err
	}
	meta, err := msg.Metadata()
	if err != nil {
		return nil, err
	}
	c.seq, c.number, c.lastMessage = meta.Sequence.Stream+1, meta.Sequence.Consumer, time.Now()
	return msg, nil
}

// consumer returns a consumer of the messages from seq on, the idle one if possible.
func (l *Log) consumer(ctx context.Context, seq uint64) (*consumer, error) {
	if f := l.takeConsumer(); f != nil {
		if f.seq <= seq && f.isAlive() {
			return f, nil
		}
		f.messages.Stop()
	}
	return newConsumer(ctx, l.stream, seq, "", pullMessages)
}

// newConsumer returns a consumer of the messages of a stream from seq on, on the subjects of a
// filter; "": on all. It prefetches a number of messages.
func newConsumer(ctx context.Context, stream jetstream.Stream, seq uint64, filter string, ahead int) (*consumer, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	c, err := stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: seq, AckPolicy: jetstream.AckNonePolicy,
		InactiveThreshold: idleTime, Replicas: 1, MemoryStorage: true, FilterSubject: filter,
	})
	if err != nil {
		return nil, err
	}
	messages, err := c.Messages(jetstream.PullMaxMessagesWithBytesLimit(ahead, pullBytes), jetstream.PullHeartbeat(heartbeat), jetstream.PullExpiry(expiry))
	if err != nil {
		return nil, err
	}
	return &consumer{messages: messages, seq: seq}, nil
}

func (c *consumer) isAlive() bool { return time.Since(c.lastMessage) < 2*heartbeat }

// A stepped world reads one record at a time, and creating a consumer involves all servers.
func (l *Log) keepConsumer(f *consumer) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.life.Err() != nil || !f.isAlive() {
		f.messages.Stop()
		return
	}
	l.idle, f = f, l.idle
	if f != nil {
		f.messages.Stop()
	}
}

func (l *Log) takeConsumer() *consumer {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	f := l.idle
	l.idle = nil
	return f
}
