package localnet_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"handloom/cluster/internal/localnet"
)

// A pair is a connection from a to b through a link.
type pair struct {
	net  *localnet.Net
	link *localnet.Link
	a, b *end
}

type end struct {
	net.Conn
	lines *bufio.Scanner
}

func newEnd(c net.Conn) *end { return &end{c, bufio.NewScanner(c)} }

func (e *end) say(t *testing.T, line string) {
	t.Helper()
	if _, err := fmt.Fprintln(e, line); err != nil {
		t.Fatal(err)
	}
}

func (e *end) want(t *testing.T, line string) {
	t.Helper()
	if !e.lines.Scan() || e.lines.Text() != line {
		t.Fatalf("heard %q, %v; want %q", e.lines.Text(), e.lines.Err(), line)
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

func dial(t *testing.T, addr string) *end {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	noError(t, err)
	t.Cleanup(func() { c.Close() })
	return newEnd(c)
}

func accept(t *testing.T, l net.Listener) *end {
	t.Helper()
	c, err := l.Accept()
	noError(t, err)
	t.Cleanup(func() { c.Close() })
	return newEnd(c)
}

func newPair(t *testing.T) *pair {
	t.Helper()
	n := localnet.NewNet()
	t.Cleanup(n.Close)
	link, err := n.Link("a", "b")
	noError(t, err)
	l := listen(t)
	link.Serve(l.Addr().String())
	a := dial(t, link.Addr())
	return &pair{n, link, a, accept(t, l)}
}

func TestLink_PassesBytes(t *testing.T) {
	p := newPair(t)
	p.a.say(t, "hello")
	p.b.want(t, "hello")
	p.b.say(t, "and you")
	p.a.want(t, "and you")
	p.a.Close()
	if p.b.lines.Scan() {
		t.Error("the other end is open")
	}
}

func TestNet_CutHoldsOneDirection(t *testing.T) {
	p := newPair(t)
	p.net.Cut("a", "b")
	p.a.say(t, "held")
	for range 20 {
		p.b.say(t, "through")
		p.a.want(t, "through")
	}
	if n := p.net.Passed("a", "b"); n != 0 {
		t.Errorf("%d bytes passed where it is cut", n)
	}
	p.net.Heal()
	p.b.want(t, "held")
}

func TestNet_ResetLosesHeldBytes(t *testing.T) {
	p := newPair(t)
	p.net.Cut("a", "b")
	p.a.say(t, "lost")
	p.net.Reset()
	p.net.Heal()
	if rest, _ := io.ReadAll(p.b); len(rest) > 0 {
		t.Errorf("%q arrived", rest)
	}
}

func TestNet_DelayHoldsForItsTime(t *testing.T) {
	p := newPair(t)
	const d = 30 * time.Millisecond
	p.net.Delay("b", "a", d)
	begun := time.Now()
	p.b.say(t, "one")
	p.b.say(t, "two")
	p.a.want(t, "one")
	p.a.want(t, "two")
	if took := time.Since(begun); took < d {
		t.Errorf("it arrived after %v, and is late by %v", took, d)
	}
}

// A restarted process is found at the same address.
func TestLink_OutlivesItsListener(t *testing.T) {
	p := newPair(t)
	p.link.Down()
	if rest, err := io.ReadAll(dial(t, p.link.Addr())); len(rest) > 0 {
		t.Errorf("nobody says %q, %v", rest, err)
	}
	elsewhere := listen(t)
	p.link.Serve(elsewhere.Addr().String())
	a := dial(t, p.link.Addr())
	b := accept(t, elsewhere)
	a.say(t, "here")
	b.want(t, "here")
	p.a.say(t, "still")
	p.b.want(t, "still")
}

func TestLink_DialNeedsBothDirections(t *testing.T) {
	p := newPair(t)
	elsewhere := listen(t)
	p.link.Serve(elsewhere.Addr().String())
	p.net.Cut("b", "a")
	a := dial(t, p.link.Addr())
	a.say(t, "early")
	noError(t, elsewhere.(*net.TCPListener).SetDeadline(time.Now().Add(20*time.Millisecond)))
	if _, err := elsewhere.Accept(); err == nil {
		t.Error("dialed through a cut")
	}
	noError(t, elsewhere.(*net.TCPListener).SetDeadline(time.Time{}))
	p.net.Heal()
	accept(t, elsewhere).want(t, "early")
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
