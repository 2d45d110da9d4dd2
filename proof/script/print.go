package script

import (
	"bytes"
	"fmt"
)

// Text returns the program as text for [Parse].
func (p *Script) Text() []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, magic)
	fmt.Fprintf(&b, "seed %d\n", p.Seed)
	if p.Revision != "" {
		fmt.Fprintf(&b, "revision %s\n", p.Revision)
	}
	// Settings of 0 have no line, so equal programs have equal texts.
	if p.Narrow != (Narrow{}) {
		fmt.Fprintf(&b, "narrow%s\n", written(p.Narrow.settings()))
	}
	if p.Store != (Store{}) {
		fmt.Fprintf(&b, "store%s\n", written(p.Store.settings()))
	}
	for i := range p.Tables {
		t := &p.Tables[i]
		fmt.Fprintf(&b, "table %s %s %s%s\n", t.Name, t.Kind, t.Item, written(t.settings()))
	}
	for i := range p.Configs {
		fmt.Fprintf(&b, "config%s\n", written(p.Configs[i].settings()))
	}
	fmt.Fprintln(&b, "do")
	for i := range p.Steps {
		p.print(&b, &p.Steps[i], "")
	}
	return b.Bytes()
}

// print writes a step with its body.
func (p *Script) print(b *bytes.Buffer, s *Step, indent string) {
	fmt.Fprintf(b, "%s%s\n", indent, p.Line(s))
	for i := range s.Body {
		p.print(b, &s.Body[i], indent+"  ")
	}
	// A write may have any steps in its body, so its end needs a line.
	if s.Op == Write {
		b.WriteString("end\n")
	}
}

// Line returns the text of a step without its body, as in failures.
func (p *Script) Line(s *Step) string {
	var b bytes.Buffer
	sp := &specs[s.Op]
	if s.Op.InTask() {
		fmt.Fprintf(&b, "@%d ", s.Task)
	}
	b.WriteString(sp.name)
	if sp.takes&table != 0 {
		b.WriteString(" " + p.Tables[s.Table].Name)
	}
	if sp.takes&word != 0 {
		b.WriteString(" " + s.Word)
	}
	if sp.takes&(name|names) != 0 {
		fmt.Fprintf(&b, " %%%d", s.Name)
		// A single name needs no number.
		if s.N > 1 || s.N == 0 {
			fmt.Fprintf(&b, "*%d", s.N)
		}
	}
	for _, r := range s.Refs {
		b.WriteString(" " + r.text(p))
	}
	for i, key := range sp.keys {
		// An argument that is 0 is not written, so that shrinking to 0 shortens the line.
		if s.Args != nil && s.Args[i] != 0 {
			fmt.Fprintf(&b, " %s=%d", key, s.Args[i])
		}
	}
	return b.String()
}
