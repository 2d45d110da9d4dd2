package draw_test

import (
	"bytes"
	"testing"

	"handloom/proof/draw"
	"handloom/proof/script"
)

func TestScript_DependsOnlyOnItsSeed(t *testing.T) {
	o := draw.Options{Steps: 300, Misuses: []string{"write-in-read"}}
	for seed := range uint64(20) {
		a, b := draw.Script(seed, o), draw.Script(seed, o)
		if !bytes.Equal(a.Text(), b.Text()) {
			t.Fatalf("seed %d gives two programs", seed)
		}
		if c := draw.Script(seed+1, o); bytes.Equal(a.Text()[30:], c.Text()[30:]) {
			t.Fatalf("seeds %d and %d give one program", seed, seed+1)
		}
	}
}

func TestScript_ParsesItsText(t *testing.T) {
	for seed := range uint64(100) {
		text := draw.Script(seed, draw.Options{Steps: 200, Misuses: []string{"write-in-read"}}).Text()
		p, err := script.Parse(text, "drawn")
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if again := p.Text(); !bytes.Equal(again, text) {
			t.Fatalf("seed %d reads back as\n%s\nwant\n%s", seed, again, text)
		}
	}
}

func TestDraw_CoversEveryOperation(t *testing.T) {
	missing := make(map[script.Op]bool)
	for _, op := range script.Ops() {
		missing[op] = true
	}
	for seed := uint64(0); seed < 1000 && len(missing) > 0; seed++ {
		p := draw.Script(seed, draw.Options{Steps: 300, Misuses: []string{"write-in-read"}})
		script.Walk(p.Steps, func(s *script.Step) { delete(missing, s.Op) })
	}
	for op := range missing {
		t.Errorf("%v never comes up", op)
	}
}
