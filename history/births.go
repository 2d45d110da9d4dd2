package history

import (
	"handloom/internal/hook"
	"handloom/store"
)

// A birth names an item that a flush created: by the call or the task that recorded the create, and
// the number of earlier creates of the table there. The name is the same without other calls.
type birth struct {
	tick       uint64
	table      int
	call       int // number of the logged call in the tick, from 1; 0: a pass
	pass, task int
	sequence   int
}

// births are the items that a play created, by handle and by name.
type births struct {
	names map[store.ID]birth
	ids   map[birth]store.ID
}

func newBirths() births { return births{map[store.ID]birth{}, map[birth]store.ID{}} }

func (b *births) add(id store.ID, name birth) { b.names[id], b.ids[name] = name, id }

// A tickBirths adds the births of one tick.
type tickBirths struct {
	*births
	stage   *stage
	tick    uint64
	numbers []int            // logged number of each call of the tick, from 1
	calls   [][]hook.Command // of the tick
}

// found is a function for [hook.Probe.Births].
func (t *tickBirths) found(id uint64, by hook.Cause) {
	name := birth{tick: t.tick, table: t.stage.tableOf(store.ID(id)), pass: by.Pass, task: by.Task, sequence: by.Sequence}
	switch {
	case by.Pass >= 0:
	case by.Call > 0:
		name.call = t.numbers[by.Call-1]
	default:
		name.call, name.sequence = t.callOf(name.table, by.Sequence)
	}
	t.add(store.ID(id), name)
}

// callOf returns the logged number of the call with a create of the input, and its number there.
func (t *tickBirths) callOf(table, sequence int) (call, at int) {
	for i, commands := range t.calls {
		n := 0
		for k := range commands {
			if commands[k].Kind == "create" && commands[k].Table == table {
				n++
			}
		}
		if sequence < n {
			return t.numbers[i], sequence
		}
		sequence -= n
	}
	return 0, sequence
}
