package history

import (
	"context"
	"errors"

	"handloom/world"
)

// A verdict is the result of a check after a tick.
type verdict struct {
	Name string
	Err  error // nil: it holds
}

// scanned is the result of a search.
type scanned struct {
	Check    string
	Turn     bool
	From, To uint64
	Found    Found
}

// scan searches the first failure in the range of the tick, and moves the view there. A tick that
// fails ends the range.
func (v *view) scan(ctx context.Context) error {
	p, q := v.page, &v.Query
	sp, err := p.spanOf(q.Tick, q.Tick)
	if err != nil {
		return err
	}
	find, s := p.First, &scanned{Check: q.Check, Turn: q.Turn, From: sp.First, To: sp.Last}
	if q.Turn {
		find = p.Turn
	}
	s.Found, err = find(ctx, s.Check, s.From, s.To)
	if failed, ok := errors.AsType[*world.TickError](err); ok && failed.Tick > s.From {
		v.noteFailed(failed.Tick)
		s.To = failed.Tick - 1
		s.Found, err = find(ctx, s.Check, s.From, s.To)
	}
	if err != nil {
		return err
	}
	v.Scan = s
	p.noteScan(s)
	if s.Found.Err != nil {
		q.Tick = s.Found.Tick.Number
	}
	return nil
}

func (v *view) noteFailed(tick uint64) {
	v.page.mutex.Lock()
	defer v.page.mutex.Unlock()
	v.page.failed[tick] = true
}

// noteScan notes the ticks whose result a search has proved.
func (p *page) noteScan(s *scanned) {
	at, fails := s.Found.Tick.Number, s.Found.Err != nil
	switch {
	case fails:
		p.noteCheck(s.Check, at, at, true)
		if at > s.From {
			from := s.From
			if s.Turn {
				from = at - 1
			}
			p.noteCheck(s.Check, from, at-1, false)
		}
	case s.Turn:
		p.noteCheck(s.Check, s.To, s.To, false)
	default:
		p.noteCheck(s.Check, s.From, s.To, false)
	}
}

// A strip has the known results of a check.
type strip struct{ known []known }

// known are ticks in a row with one result.
type known struct {
	From, To uint64
	Fails    bool
}

const maxKnown = 1000 // of a strip; the oldest is forgotten

func (p *page) noteCheck(name string, from, to uint64, fails bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	s := p.strips[name]
	if s == nil {
		s = new(strip)
		p.strips[name] = s
	}
	for i := range s.known {
		k := &s.known[i]
		if k.Fails == fails && from <= k.To+1 && k.From <= to+1 {
			k.From, k.To = min(k.From, from), max(k.To, to)
			return
		}
	}
	if len(s.known) == maxKnown {
		s.known = s.known[1:]
	}
	s.known = append(s.known, known{from, to, fails})
}
