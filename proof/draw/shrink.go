package draw

import (
	"context"
	"slices"

	"handloom/proof/script"
)

// Shrink returns the smallest program found until ctx ends for which fails
// returns true, as it must for p. It is delta debugging: it removes steps,
// commands, handles, tables and options, many at once and then one by one,
// reduces numbers, and repeats until nothing changes.
func Shrink(ctx context.Context, p *script.Script, fails func(*script.Script) bool) *script.Script {
	s := &shrinking{ctx: ctx, best: clone(p), fails: fails}
	// A round that leaves the length of the text ends the search.
	for before := 0; before != len(s.best.Text()) && ctx.Err() == nil; {
		before = len(s.best.Text())
		// Whole steps first, so that the later parts have less to do.
		s.steps()
		s.bodies()
		s.refs()
		s.tables()
		s.numbers()
	}
	return s.best
}

// shrinking is a running Shrink. best fails and parses at any time.
type shrinking struct {
	ctx   context.Context
	best  *script.Script
	fails func(*script.Script) bool
}

// try applies an edit to a copy. It keeps the copy if it parses and still
// fails.
func (s *shrinking) try(edit func(p *script.Script)) bool {
	if s.ctx.Err() != nil {
		return false
	}
	c := clone(s.best)
	edit(c)
	// The second copy checks that the edited program parses, and gives its steps new lines.
	if c = clone(c); c == nil || !s.fails(c) {
		return false
	}
	s.best = c
	return true
}

// cut removes ranges of a list: halves, quarters and so on. without removes
// elements i to j-1.
func (s *shrinking) cut(length func() int, without func(p *script.Script, i, j int)) {
	for size := length(); size > 0; size /= 2 {
		for i := 0; i < length() && s.ctx.Err() == nil; {
			j := min(i+size, length())
			// After success the following elements are at i, so i stays.
			if !s.try(func(p *script.Script) { without(p, i, j) }) {
				i = j
			}
		}
	}
}

// steps removes steps of the program.
func (s *shrinking) steps() {
	s.cut(func() int { return len(s.best.Steps) }, func(p *script.Script, i, j int) {
		p.Steps = slices.Delete(p.Steps, i, j)
	})
}

// bodies cuts the bodies of steps, also nested bodies, and moves single steps
// out of their writes.
func (s *shrinking) bodies() {
	s.each(func(find func(p *script.Script) *script.Step) {
		s.cut(func() int { return len(find(s.best).Body) }, func(p *script.Script, i, j int) {
			step := find(p)
			step.Body = slices.Delete(step.Body, i, j)
		})
	})
	for i := 0; i < len(s.best.Steps); i++ {
		s.try(func(p *script.Script) {
			if p.Steps[i].Op == script.Write {
				p.Steps = slices.Replace(p.Steps, i, i+1, outside(p.Steps[i].Body)...)
			}
		})
	}
}

// outside returns the steps allowed outside a write; a program with the others
// would not parse.
func outside(body []script.Step) []script.Step {
	return slices.DeleteFunc(slices.Clone(body), func(s script.Step) bool { return !s.Op.Alone() })
}

// each calls f for every step. find returns the step in a program of the same
// shape.
func (s *shrinking) each(f func(find func(p *script.Script) *script.Step)) {
	n := s.best.Len()
	for i := 0; i < n && i < s.best.Len(); i++ {
		f(func(p *script.Script) *script.Step { return nth(p, i) })
	}
}

// nth returns step n of a walk, or nil.
func nth(p *script.Script, n int) (found *script.Step) {
	script.Walk(p.Steps, func(s *script.Step) {
		if n == 0 {
			found = s
		}
		n--
	})
	return found
}

// refs removes and simplifies references.
func (s *shrinking) refs() {
	s.each(func(find func(p *script.Script) *script.Step) {
		s.cut(func() int { return len(find(s.best).Refs) }, func(p *script.Script, i, j int) {
			step := find(p)
			step.Refs = slices.Delete(step.Refs, i, j)
		})
		for i := range find(s.best).Refs {
			s.simplify(find, i)
		}
	})
}

// simplify removes the forgings of a reference and reduces its count.
func (s *shrinking) simplify(find func(p *script.Script) *script.Step, i int) {
	ref := func(p *script.Script) *script.Ref { return &find(p).Refs[i] }
	if len(ref(s.best).Forge) > 0 {
		s.cut(func() int { return len(ref(s.best).Forge) }, func(p *script.Script, i, j int) {
			ref(p).Forge = slices.Delete(ref(p).Forge, i, j)
		})
	}
	for ref(s.best).Count > 1 && s.try(func(p *script.Script) { ref(p).Count /= 2 }) {
	}
	if ref(s.best).Kind == script.Provisional {
		s.try(func(p *script.Script) { ref(p).Kind = script.Named })
	}
}
