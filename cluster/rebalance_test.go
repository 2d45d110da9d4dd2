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
		revisions: make(map[string]uint64), missed: make(map[string]int), heard: make(map[string]int), hosted: make(map[CellID]*hosted),
	}
	cell := CellID(0)
	for id, nodes := range n.placement.assign(2) {
		if nodes[0] == "b" {
			cell = id
		}
	}
	h := new(hosted)
	n.hosted[cell] = h
	entry := func(id string, revision uint64) {
		n.see(t.Context(), keyValue{key: nodePrefix + "b", value: fmt.Sprintf(`{"host":"h","id":%q,"beat":1,"cells":[%q]}`, id, cell), revision: revision})
	}
	want := func(state string, want move) {
		t.Helper()
		if m := n.nextMove(); m != want {
			t.Errorf("%s: got %+v, want %+v", state, m, want)
		}
	}
	entry("i", 6)
	entry("i", 7)
	want("a cell that is not open", move{})
	h.set(&openCell{world: w}, nil)
	want("no sign of life since this node leads", move{})
	entry("j", 8)
	want("an entry of a process that was never heard", move{})
	entry("j", 9)
	want("after a sign of life", move{h, true, false})
}
