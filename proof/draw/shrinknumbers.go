package draw

import "handloom/proof/script"

// number reduces one number: to 0, else by halves, then by 1.
func (s *shrinking) number(at func(p *script.Script) *int) {
	set := func(v int) bool {
		return s.try(func(p *script.Script) { *at(p) = v })
	}
	if *at(s.best) == 0 || set(0) {
		return
	}
	for *at(s.best) > 1 && set(*at(s.best)/2) {
	}
	// Steps by 1 end after some tries: a large number that must stay costs a run each.
	for tries := 0; tries < 8 && *at(s.best) > 1 && set(*at(s.best)-1); tries++ {
	}
}

// numbers reduces the arguments and names of steps, and the settings.
func (s *shrinking) numbers() {
	s.each(func(find func(p *script.Script) *script.Step) {
		if find(s.best).N > 1 {
			s.number(func(p *script.Script) *int { return &find(p).N })
		}
		for i := range find(s.best).Op.Keys() {
			s.number(func(p *script.Script) *int { return argument(find(p), i) })
		}
	})
	for i := range s.best.Numbers() {
		s.number(func(p *script.Script) *int { return p.Numbers()[i] })
	}
}

// argument returns the address of an argument. A step without arguments gets an array.
func argument(s *script.Step, i int) *int {
	if s.Args == nil {
		s.Args = make([]int, len(s.Op.Keys()))
	}
	return &s.Args[i]
}

// tables moves steps to the first table, removes unused tables, and simplifies
// the others.
func (s *shrinking) tables() {
	s.each(func(find func(p *script.Script) *script.Step) {
		if find(s.best).Op.HasTable() && find(s.best).Table > 0 {
			s.try(func(p *script.Script) { find(p).Table = 0 })
		}
	})
	// From the end, so that indexes before i stay valid.
	for i := len(s.best.Tables) - 1; i >= 0 && len(s.best.Tables) > 1; i-- {
		if !used(s.best, i) {
			s.try(func(p *script.Script) { removeTable(p, i) })
		}
	}
	for i := range s.best.Tables {
		t := func(p *script.Script) *script.Table { return &p.Tables[i] }
		if t(s.best).Item != script.Word {
			s.try(func(p *script.Script) { t(p).Item = script.Word })
		}
		if t(s.best).Kind != script.Packed {
			s.try(func(p *script.Script) { t(p).Kind = script.Packed })
		}
	}
}

// used reports whether a step or a forging names the table.
func used(p *script.Script, table int) bool {
	found := false
	script.Walk(p.Steps, func(s *script.Step) {
		found = found || s.Op.HasTable() && s.Table == table
		for _, r := range s.Refs {
			for _, f := range r.Forge {
				found = found || f.Kind == script.OtherTable && f.N == table
			}
		}
	})
	return found
}

// removeTable removes an unused table and renumbers the tables after it.
func removeTable(p *script.Script, table int) {
	p.Tables = append(p.Tables[:table], p.Tables[table+1:]...)
	script.Walk(p.Steps, func(s *script.Step) {
		if s.Table > table {
			s.Table--
		}
		for i := range s.Refs {
			for k := range s.Refs[i].Forge {
				if f := &s.Refs[i].Forge[k]; f.Kind == script.OtherTable && f.N > table {
					f.N--
				}
			}
		}
	})
}

// clone returns a deep copy, or nil if the program does not parse.
func clone(p *script.Script) *script.Script {
	c, err := script.Parse(p.Text(), "")
	if err != nil {
		return nil
	}
	return c
}
