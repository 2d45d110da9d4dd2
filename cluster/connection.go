package cluster

import (
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A connection to the servers. The Logs of a [Node] share one.
type connection struct {
	*nats.Conn
	js   jetstream.JetStream
	done func() // releases the embedded server

	mutex    sync.Mutex
	users    int
	appended time.Time // time of the last acknowledged append of any Log
	leftAt   time.Time // time of the last reconnect
}

// share adds a user.
func (c *connection) share() *connection {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.users++
	return c
}

// release closes the connection after its last user.
func (c *connection) release() {
	c.mutex.Lock()
	c.users--
	last := c.users == 0
	c.mutex.Unlock()
	if last {
		c.Close()
		c.done()
	}
}

func (c *connection) noteAppend() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.appended = time.Now()
}

// leave changes servers, and reports whether it did. A server that acknowledges appends of
// another Log is not cut off.
func (c *connection) leave(failingSince time.Time) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	now := time.Now()
	if now.Sub(failingSince) < leaveTime || now.Sub(c.leftAt) < stayTime || c.appended.After(failingSince) || len(c.Servers()) < 2 {
		return false
	}
	c.leftAt = now
	_ = c.ForceReconnect() // fails if closed
	return true
}
