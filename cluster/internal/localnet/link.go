package localnet

import (
	"io"
	"net"
)

// A Link is a proxy from one process to another.
type Link struct {
	net      *Net
	from, to string
	listener net.Listener

	// Guarded by the mutex of the Net.
	target string // address of to; empty: unknown yet
	down   bool   // refuse connections
	conns  map[net.Conn]bool
}

// Link returns a link from one process to another, on a free port. Connections wait for the
// first Serve. Several links may have the same names.
func (n *Net) Link(from, to string) (*Link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &Link{net: n, from: from, to: to, listener: listener, conns: make(map[net.Conn]bool)}
	n.change(func() { n.links = append(n.links, l) })
	n.all.Go(l.accept)
	return l, nil
}

// Addr returns the address for from.
func (l *Link) Addr() string { return l.listener.Addr().String() }

// Serve sets the address of to.
func (l *Link) Serve(addr string) { l.net.change(func() { l.target, l.down = addr, false }) }

// Down makes the link refuse connections.
func (l *Link) Down() { l.net.change(func() { l.target, l.down = "", true }) }

func (l *Link) accept() {
	for {
		conn, err := l.listener.Accept()
		if err != nil {
			return
		}
		if l.keep(conn) {
			l.net.all.Go(func() { l.carry(conn) })
		}
	}
}

// keep registers a connection for Close, or closes it after Close.
func (l *Link) keep(conn net.Conn) bool {
	l.net.mutex.Lock()
	defer l.net.mutex.Unlock()
	if l.net.closed {
		conn.Close()
		return false
	}
	l.conns[conn] = true
	return true
}

func (l *Link) drop(conn net.Conn) {
	l.net.mutex.Lock()
	defer l.net.mutex.Unlock()
	delete(l.conns, conn)
	conn.Close()
}

func (l *Link) closeConns() {
	for conn := range l.conns {
		conn.Close()
	}
}

// isCut reports whether a direction is cut.
func (l *Link) isCut() bool {
	return max(l.net.delays[way{l.from, l.to}], l.net.delays[way{l.to, l.from}]) == cut
}

// carry connects conn with the target until either side hangs up.
func (l *Link) carry(conn net.Conn) {
	defer l.drop(conn)
	addr, ok := l.dialable()
	if !ok {
		return
	}
	other, err := net.Dial("tcp", addr)
	if err != nil || !l.keep(other) {
		return
	}
	defer l.drop(other)
	back := make(chan struct{})
	l.net.all.Go(func() {
		defer close(back)
		l.pump(other, conn, way{l.to, l.from})
	})
	l.pump(conn, other, way{l.from, l.to})
	<-back
}

// dialable waits for a target without cuts, because dialing takes both directions.
func (l *Link) dialable() (addr string, ok bool) {
	n := l.net
	n.mutex.Lock()
	for !n.closed && !l.down && (l.target == "" || l.isCut()) {
		changed := n.changed
		n.mutex.Unlock()
		<-changed
		n.mutex.Lock()
	}
	defer n.mutex.Unlock()
	return l.target, !n.closed && !l.down
}

// pump copies src to dst. During a cut it holds one piece, and system buffers the rest.
func (l *Link) pump(src, dst net.Conn, w way) {
	// Neither NATS nor line protocols use half-closed connections.
	defer src.Close()
	defer dst.Close()
	_, _ = io.Copy(gate{dst, l.net, w}, src)
}

// A gate delays writes like its way.
type gate struct {
	to  io.Writer
	net *Net
	way way
}

func (g gate) Write(b []byte) (n int, err error) {
	if !g.net.await(g.way) {
		return 0, net.ErrClosed
	}
	n, err = g.to.Write(b)
	g.net.mutex.Lock()
	g.net.passed[g.way] += int64(n)
	g.net.mutex.Unlock()
	return n, err
}
