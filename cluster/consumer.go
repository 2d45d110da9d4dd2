package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// A server that is to send says every so often that it lives.
	heartbeat = 500 * time.Millisecond
	expiry    = 10 * time.Second

	// What is fetched ahead, at most.
	pullBytes    = 8 << 20
	pullMessages = 512

	idleTime      = 5 * time.Second // of a consumer that nobody reads from any more
	checkInterval = time.Second     // until the leader is asked whether a consumer keeps something back
)

// A feed is a consumer and what it sends.
type consumer struct {
	messages    jetstream.MessagesContext
	seq         uint64    // of its next message
	lastMessage time.Time // when it sent the last one
}

var errNoMessage = errors.New("it has sent nothing for a while")

// next waits for the next message, for quietTime.
func (f *consumer) next(ctx context.Context) (seq uint64, b []byte, err error) {
	wait, cancel := context.WithTimeout(ctx, checkInterval)
	defer cancel()
	msg, err := f.messages.Next(jetstream.NextContext(wait))
	if err != nil {
		if wait.Err() != nil && ctx.Err() == nil {
			err = errNoMessage
		}
		return 0, nil, err
	}
	meta, err := msg.Metadata()
	if err != nil {
		return 0, nil, err
	}
	f.seq, f.lastMessage = meta.Sequence.Stream+1, time.Now()
	return meta.Sequence.Stream, msg.Data(), nil
}

// feed returns a feed of the messages from seq on: one that was kept, or another.
func (l *Log) consumer(ctx context.Context, seq uint64) (*consumer, error) {
	if f := l.takeConsumer(); f != nil {
		if f.seq <= seq && f.isAlive() {
			return f, nil
		}
		f.messages.Stop()
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	c, err := l.stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: seq, AckPolicy: jetstream.AckNonePolicy,
		InactiveThreshold: idleTime, Replicas: 1, MemoryStorage: true,
	})
	if err != nil {
		return nil, err
	}
	messages, err := c.Messages(jetstream.PullMaxMessagesWithBytesLimit(pullMessages, pullBytes), jetstream.PullHeartbeat(heartbeat), jetstream.PullExpiry(expiry))
	if err != nil {
		return nil, err
	}
	return &consumer{messages: messages, seq: seq}, nil
}

// lives reports whether the feed has sent something lately. One that has not may come from a
// server that is lost, which only who waits for longer finds out.
func (f *consumer) isAlive() bool { return time.Since(f.lastMessage) < 2*heartbeat }

// keep keeps a feed for who reads on: a world that is stepped reads one record at a time, and
// to make a consumer takes a decision of all servers.
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
