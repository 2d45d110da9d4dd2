package cluster

import (
	"fmt"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"handloom/world"
)

// A keyValue is a new value of a key of the bucket.
type keyValue struct {
	jetstream.KeyValueEntry
	key, value string
	revision   uint64
}

func (e keyValue) Key() string                     { return e.key }
func (e keyValue) Value() []byte                   { return []byte(e.value) }
func (e keyValue) Revision() uint64                { return e.revision }
func (e keyValue) Operation() jetstream.KeyValueOp { return jetstream.KeyValuePut }

// A cell whose leader died stays where it is until the node of its leader gives a sign of life.
// Handed to a dead node, it would have no leader for the time limit of a handoff.
func TestNextMove_LeavesCellsOfDeadNodes(t *testing.T) {
	t.Parallel()
	b := newBank()
	w, err := world.Open(t.Context(), b.store, world.Memory(), b.options())
	noError(t, err)
	defer w.Close(t.Context())
	n := &Node{
		host: Host{Name: "a", Copies: 2}, placement: placementOf(9, "a", "b"), read: true,
		revisions: make(map[string]uint64), missed: make(map[string]int), hosted: make(map[CellID]*hosted),
	}
	cell := CellID(0)
	for id, nodes := range n.placement.assign(2) {
		if nodes[0] == "b" {
			cell = id
		}
	}
	h := new(hosted)
	n.hosted[cell] = h
	sign := keyValue{key: nodePrefix + "b", value: fmt.Sprintf(`{"host":"h","id":"i","beat":1,"cells":[%q]}`, cell), revision: 7}
	n.see(t.Context(), sign)
	if m := n.nextMove(); m.hosted != nil {
		t.Errorf("a cell that is not open: got %+v", m)
	}
	h.set(&openCell{world: w}, nil)
	if m := n.nextMove(); m.hosted != nil {
		t.Errorf("no sign of life since this node leads: got %+v, want no move", m)
	}
	sign.revision = 8
	n.see(t.Context(), sign)
	if m := n.nextMove(); m != (move{h, true, false}) {
		t.Errorf("after a sign of life: got %+v, want a handoff", m)
	}
}
