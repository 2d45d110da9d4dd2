package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func placementOf(cells int, nodes ...string) placement {
	p := newPlacement()
	for id := range cells {
		p.set(cellPrefix+CellID(id+1).String(), fmt.Appendf(nil, `{"weight":%d}`, 1+id%3))
	}
	for _, name := range nodes {
		p.set(nodePrefix+name, []byte(`{"host":"h","id":"i","beat":1,"cells":null}`))
	}
	return p
}

// Each cell has its copies on different nodes, no node is overloaded, and a lost node moves few
// cells of others.
func TestPlacement_AssignsEvenly(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "c", "d", "e"}
	for n := 1; n <= len(names); n++ {
		p := placementOf(300, names[:n]...)
		before := p.assign(2)
		load := map[string]int{}
		for id, nodes := range before {
			if len(nodes) != min(2, n) || n > 1 && nodes[0] == nodes[1] {
				t.Fatalf("%d nodes: cell %v: got %v", n, id, nodes)
			}
			for _, name := range nodes {
				load[name] += p.cells[id].Weight
			}
		}
		for _, name := range names[:n] {
			if mean := 600 * min(2, n) / n; load[name] > mean*5/4+3 || load[name] < mean/2 {
				t.Errorf("%d nodes: load of %s: got %d, mean %d", n, name, load[name], mean)
			}
		}
		if n < 3 {
			continue
		}
		p.set(nodePrefix+"a", nil)
		moved, must := 0, 0
		for id, nodes := range p.assign(2) {
			if slices.Contains(before[id], "a") {
				must++
			} else if !slices.Equal(nodes, before[id]) {
				moved++
			}
		}
		if moved > 90 || must < 50 {
			t.Errorf("%d nodes: without a: %d cells moved from it, and %d others, want at most 90", n, must, moved)
		}
	}
}

// Without the limit many of these numbers of cells exceed it.
func TestPlacement_LimitsLoad(t *testing.T) {
	t.Parallel()
	for cells := 1; cells <= 100; cells++ {
		for nodes := 2; nodes <= 5; nodes++ {
			for copies := 1; copies <= 2; copies++ {
				p := placementOf(cells, []string{"a", "b", "c", "d", "e"}[:nodes]...)
				total, load := 0, map[string]int{}
				for id, names := range p.assign(copies) {
					total += copies * p.cells[id].Weight
					for _, name := range names {
						load[name] += p.cells[id].Weight
					}
				}
				for name, got := range load {
					if limit := total*5/4/nodes + min(cells, 3); got > limit {
						t.Errorf("%d cells, %d nodes, %d copies: load of %s: got %d, want at most %d", cells, nodes, copies, name, got, limit)
					}
				}
			}
		}
	}
}

// An entry edited by hand is named with the fix, and stops no other cell. Its cell has weight 1.
func TestPlacement_NamesWrongEntries(t *testing.T) {
	good := placementOf(3, "a", "b")
	for _, tt := range []struct{ key, value, text string }{
		{"cell.0000000000000002", `{"weight":`, "key cell.0000000000000002: unexpected EOF"},
		{"cell.0000000000000002", ``, "unexpected EOF"},
		{"cell.0000000000000002", `{"weight":3,"colour":"red"}`, `unknown field "colour"`},
		{"cell.0000000000000002", `{"weight":0}`, "weight: got 0, want 1 to 1048576"},
		{"cell.0000000000000002", `{"weight":1}{}`, "got bytes after the value"},
		{"cell.2", `{"weight":1}`, `key cell.2: cells: ID: got "2", want 16 lower-case hexadecimal digits`},
		{"cell.000000000000000A", `{"weight":1}`, "want 16 lower-case"},
		{"note", `hello`, "key note: key: want cell.ID or node.NAME"},
		{"node.b c", `{}`, "name: want 1 to 64 letters"},
		{"node.c", `true`, "key node.c: json:"},
	} {
		p, ofCell, fix := placementOf(3, "a", "b"), tt.key == "cell.0000000000000002", "; delete the key"
		if ofCell {
			fix = "; Place the cell again"
		}
		p.set(tt.key, []byte(tt.value))
		if got := p.problems(); len(got) != 1 || !strings.HasPrefix(got[0], "bucket handloom: key ") ||
			!strings.Contains(got[0], tt.text) || !strings.HasSuffix(got[0], fix) {
			t.Errorf("%s %s: got %q, want %q%s", tt.key, tt.value, got, tt.text, fix)
		}
		if want := (cellEntry{1}); ofCell && p.cells[2] != want {
			t.Errorf("%s %s: got %+v, want %+v", tt.key, tt.value, p.cells[2], want)
		}
		for id, nodes := range p.assign(2) {
			if len(good.cells) != len(p.cells) || len(nodes) != 2 {
				t.Errorf("%s %s: cell %v: got %v", tt.key, tt.value, id, nodes)
			}
		}
		p.set(tt.key, nil)
		if got := p.problems(); got != nil {
			t.Errorf("%s: removed: got %q", tt.key, got)
		}
	}
}
