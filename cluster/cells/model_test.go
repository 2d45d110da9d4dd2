package cells_test

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"handloom/cluster/cells"
	"handloom/store"
)

// Packets and cursors arrive in any order, repeatedly or never.
func TestOutbox_AgainstList(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := &mail{T: t}
		for i := range m.cells {
			m.cells[i] = newPost(t, cells.Options[int]{Limit: limit})
		}
		r.Repeat(map[string]func(*rapid.T){
			"":        m.check,
			"send":    m.send,
			"pack":    m.pack,
			"deliver": m.deliver,
			"answer":  m.answer,
			"reload":  m.reload,
		})
		m.finish(r)
	})
}

const limit = 40 // messages that wait for a cell

type mail struct {
	*testing.T
	cells    [2]*post[int]
	sent     [2][]int // by sender
	received [2][]int // by sender, at the other cell
	packets  [2][][]byte
	cursors  [2][]uint64 // answers to a sender
}

func (m *mail) side(r *rapid.T) int { return rapid.IntRange(0, 1).Draw(r, "side") }

func (m *mail) tick(from int, numbers ...int) {
	p, other := m.cells[from], m.cells[1-from]
	m.received[1-from] = append(m.received[1-from], p.mustSend(m, other.self, numbers...)...)
	var refused []int
	for _, n := range p.out.Refused() {
		refused = append(refused, *n)
	}
	fits := len(numbers) - len(refused)
	if !slices.Equal(refused, numbers[fits:]) || len(refused) > 0 && p.out.Available(other.self) != 0 {
		m.Errorf("refused %v of %v, Available %d", refused, numbers, p.out.Available(other.self))
	}
	m.sent[from] = append(m.sent[from], numbers[:fits]...)
}

func (m *mail) send(r *rapid.T) {
	from := m.side(r)
	numbers := make([]int, rapid.IntRange(0, 9).Draw(r, "messages"))
	for i := range numbers {
		numbers[i] = len(m.sent[from]) + i
	}
	m.tick(from, numbers...)
}

func (m *mail) pack(r *rapid.T) {
	from := m.side(r)
	p, to := m.cells[from], m.cells[1-from].self
	for _, pair := range p.out.Pairs() {
		if pair.Cell != to {
			continue
		}
		after := rapid.Uint64Range(pair.Acked, pair.Sent).Draw(r, "after")
		if packet := p.out.Pack(to, after); packet != nil {
			m.packets[from] = append(m.packets[from], packet)
		}
	}
}

func (m *mail) deliver(r *rapid.T) {
	from := m.side(r)
	if len(m.packets[from]) == 0 {
		return
	}
	to := m.cells[1-from]
	for _, packet := range rapid.SliceOfN(rapid.SampledFrom(m.packets[from]), 1, 3).Draw(r, "packets") {
		to.submit(m, packet)
	}
	m.tick(1 - from)
	m.cursors[from] = append(m.cursors[from], to.out.Cursor(m.cells[from].self))
}

func (m *mail) answer(r *rapid.T) {
	to := m.side(r)
	if len(m.cursors[to]) == 0 {
		return
	}
	cursor := rapid.SampledFrom(m.cursors[to]).Draw(r, "cursor")
	p := m.cells[to]
	p.enqueue(m, func(q store.Queue) { p.out.Acked(q, m.cells[1-to].self, cursor) })
	m.tick(to)
}

func (m *mail) reload(r *rapid.T) {
	i := m.side(r)
	var image bytes.Buffer
	noError(m, m.cells[i].Snapshot(context.Background(), &image))
	p := newPost(m, cells.Options[int]{Limit: limit})
	p.self = m.cells[i].self
	noError(m, p.Load(context.Background(), &image))
	m.cells[i] = p
}

func (m *mail) check(r *rapid.T) {
	for from, received := range m.received {
		if len(received) > len(m.sent[from]) {
			r.Fatalf("sent %d messages, received %d", len(m.sent[from]), len(received))
		}
		for i, n := range received {
			if n != m.sent[from][i] {
				r.Fatalf("message %d: got %d, want %d", i, n, m.sent[from][i])
			}
		}
		p := m.cells[from]
		for _, pair := range p.out.Pairs() {
			cursor := m.cells[1-from].out.Cursor(p.self)
			if pair.Cell == m.cells[1-from].self && (pair.Acked > cursor || cursor > pair.Sent || pair.Err != nil) {
				r.Fatalf("cursor %d: %+v", cursor, pair)
			}
		}
	}
}

// finish delivers all waiting messages.
func (m *mail) finish(r *rapid.T) {
	for from, p := range m.cells {
		to := m.cells[1-from]
		for {
			packet := p.out.Pack(to.self, to.out.Cursor(p.self))
			if packet == nil {
				break
			}
			to.submit(m, packet)
			m.tick(1 - from)
		}
		p.enqueue(m, func(q store.Queue) { p.out.Acked(q, to.self, to.out.Cursor(p.self)) })
		m.tick(from)
		if n := len(m.received[from]); n != len(m.sent[from]) || p.out.Available(to.self) != limit {
			r.Fatalf("of %d messages %d were received, Available %d", len(m.sent[from]), n, p.out.Available(to.self))
		}
		for _, table := range to.Stats() {
			if table.Name == "message arrived" && table.Live != 0 {
				r.Fatalf("%d received messages remain", table.Live)
			}
		}
	}
	m.check(r)
}
