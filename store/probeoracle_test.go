package store_test

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"handloom/internal/entrance"
	"handloom/store"
)

// probeOracle copies the whole state at every boundary, and keeps a log of all commands. Its parts
// for fields, phases and commands are written anew, and slow.
type probeOracle struct {
	s        *store.Store
	observes bool
	state    map[probeCell]string
	seen     []probeSeen
	made     []store.ID

	last, phase, system string
	passes, flushes     int
	numbers             map[string]int
	log                 []probeLogged
}

// probeCell is an item, a field of it, a component or a field of one.
type probeCell struct {
	id    store.ID
	field string
}

type probeSeen struct {
	probeCell
	change entrance.Change
}

type probeLogged struct {
	id    store.ID // real or provisional
	table string   // of an erase of all
	part  string   // component of a Set or Unset
	queue string
	rows  string // erases by row follow the erases with this name
	by    entrance.Cause
}

func newProbeOracle(s *store.Store, observes bool) *probeOracle {
	return &probeOracle{s: s, observes: observes, last: "the end", state: map[probeCell]string{}}
}

// begin begins a Frame, before the calls of its input.
func (o *probeOracle) begin() {
	o.passes, o.flushes, o.numbers = 0, 0, map[string]int{}
}

func (o *probeOracle) started() { o.boundary("the start") }

var probeTables = []string{"units", "plans", "flashes"}

func (o *probeOracle) snapshot() map[probeCell]string {
	state := make(map[probeCell]string)
	text := func(v any) string {
		if s, ok := v.(string); ok {
			return strconv.Quote(s)
		}
		return fmt.Sprintf("%+v", v)
	}
	for _, name := range probeTables {
		for id, v := range o.s.DumpTable(name, 0) {
			state[probeCell{id, ""}] = text(reflect.ValueOf(v).Elem().Interface())
			if u, ok := v.(*probeUnit); ok {
				state[probeCell{id, "A"}], state[probeCell{id, "Pos.Y"}] = text(u.A), text(u.Pos.Y)
			}
			for part, v := range o.s.DumpColumns(id) {
				state[probeCell{id, part}] = text(reflect.ValueOf(v).Elem().Interface())
			}
		}
	}
	return state
}

// look finds all differences, whose causes by returns.
func (o *probeOracle) look(by func(c probeCell, had, has bool) (entrance.Cause, []entrance.Cause)) {
	if !o.observes {
		return
	}
	before, after := o.state, o.snapshot()
	all := maps.Clone(before)
	maps.Copy(all, after)
	for _, c := range slices.SortedFunc(maps.Keys(all), func(a, b probeCell) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(probeOrder(a.field), probeOrder(b.field)))
	}) {
		if from, to := before[c], after[c]; from != to {
			change := entrance.Change{Field: c.field, From: from, To: to}
			change.By, change.Lost = by(c, from != "", to != "")
			o.seen = append(o.seen, probeSeen{c, change})
		}
	}
	o.state = after
}

// probeOrder has the components in the order of their addition.
func probeOrder(field string) int {
	return slices.Index([]string{"", "weight", "height", "mark", "locked", "A", "Pos.Y"}, field)
}

// boundary is called before each phase and operation with its name.
func (o *probeOracle) boundary(name string) {
	switch name {
	case "flush":
		name = fmt.Sprint("flush ", o.flushes)
	case "pass":
		name = fmt.Sprint("pass ", o.passes)
	}
	by := entrance.Cause{Kind: "in place", System: o.system, Phase: "between " + o.last + " and " + name, Pass: -1, Task: -1, Sequence: -1}
	o.look(func(probeCell, bool, bool) (entrance.Cause, []entrance.Cause) { return by, nil })
	o.last = name
}

// wrote runs something that writes at once.
func (o *probeOracle) wrote(kind, phase string, do func()) {
	do()
	by := entrance.Cause{Kind: kind, System: o.system, Phase: phase, Pass: -1, Task: -1, Sequence: -1}
	o.look(func(probeCell, bool, bool) (entrance.Cause, []entrance.Cause) { return by, nil })
}

func (o *probeOracle) immediate(operation string, do func()) {
	o.boundary(operation)
	o.wrote("at once", operation, do)
}

func (o *probeOracle) inSystem(name string, run func()) {
	o.boundary(fmt.Sprintf("the start of system %q", name))
	o.system = name
	run()
	o.boundary(fmt.Sprintf("the end of system %q", name))
	o.system = ""
}

func (o *probeOracle) pass(phase string, run func()) {
	o.boundary("pass")
	o.phase = phase
	o.passes++
	run()
}

// task ends a task of a pass.
func (o *probeOracle) task(task int) {
	by := entrance.Cause{Kind: "in place", System: o.system, Phase: o.phase, Pass: o.passes - 1, Task: task, Sequence: -1}
	o.look(func(probeCell, bool, bool) (entrance.Cause, []entrance.Cause) { return by, nil })
}

// probeQueue logs the commands of a queue.
type probeQueue struct {
	store.Queue
	o    *probeOracle
	name string
	by   entrance.Cause
}

func (o *probeOracle) queue(q store.Queue, task int) *probeQueue {
	return &probeQueue{q, o, fmt.Sprint(o.passes-1, " ", task), entrance.Cause{System: o.system, Phase: o.phase, Pass: o.passes - 1, Task: task}}
}

func (o *probeOracle) call(q store.Queue, number int) *probeQueue {
	return &probeQueue{q, o, fmt.Sprint("call ", number), entrance.Cause{Phase: "the input", Pass: -1, Task: -1, Call: number + 1}}
}

// commandLine returns the line of probeworld_test.go that logs a command.
func commandLine() string {
	for skip := 2; ; skip++ {
		if _, file, line, _ := runtime.Caller(skip); strings.HasSuffix(file, "probeworld_test.go") {
			return strconv.Itoa(line)
		}
	}
}

// add logs a command, and returns its number among those with the same series.
func (q *probeQueue) add(kind, series string, l probeLogged) int {
	l.queue, l.by = q.name, q.by
	l.by.Kind = kind
	if l.rows == "" {
		l.by.Where = commandLine()
		key := q.name + " " + series
		l.by.Sequence = q.o.numbers[key]
		q.o.numbers[key]++
	}
	q.o.log = append(q.o.log, l)
	return l.by.Sequence
}

func (q *probeQueue) created(table string, id store.ID) {
	q.add("create", "create "+table, probeLogged{id: id, table: table})
}

func (q *probeQueue) all(table string) { q.add("erase all", "all "+table, probeLogged{table: table}) }

// series names an array of a queue. The null handle is in that of the first typeId.
func (o *probeOracle) series(kind, part string, id store.ID) string {
	typeID := id.TypeID()
	if id.IsZero() {
		typeID = o.typeOf(map[bool]string{true: "plans", false: "units"}[part == "plans" || part == "locked"])
	}
	return fmt.Sprint(strings.TrimPrefix(kind, "un"), " ", part, " ", typeID)
}

// byRow logs an erase by row.
func (q *probeQueue) byRow(table string, id store.ID) {
	q.add("erase", "", probeLogged{id: id, rows: q.name + " " + q.o.series("erase", table, id)})
}

// named logs a command for an item of a table or for its component.
func (q *probeQueue) named(kind, part string, id store.ID) {
	if kind != "set" && kind != "unset" {
		q.add(kind, q.o.series(kind, part, id), probeLogged{id: id})
		return
	}
	o := q.o
	create := slices.IndexFunc(o.log, func(l probeLogged) bool { return l.id == id && l.by.Kind == "create" && l.queue == q.name })
	if create < 0 {
		q.add(kind, o.series(kind, part, id), probeLogged{id: id, part: part})
		return
	}
	// Staged next to the create: only the last one is known.
	o.log = slices.DeleteFunc(o.log, func(l probeLogged) bool { return l.id == id && l.part == part && l.queue == q.name })
	by := q.by
	by.Kind, by.Sequence, by.Where = kind, o.log[create].by.Sequence, commandLine()
	o.log = append(o.log, probeLogged{id: id, part: part, queue: q.name, by: by})
}

func (o *probeOracle) logged() int { return len(o.log) }

func (o *probeOracle) dropSince(n int) { o.log = o.log[:n] }

func (o *probeOracle) typeOf(table string) uint16 {
	for _, t := range o.s.DigestTables() {
		if t.Name == table {
			return t.TypeID
		}
	}
	return 0
}

// flushed finds the changes of a flush, and the commands that made them.
func (o *probeOracle) flushed() {
	for i := range o.log {
		l := &o.log[i]
		if l.rows != "" {
			rows := 0
			for _, earlier := range o.log[:i] {
				if earlier.rows == l.rows {
					rows++
				}
			}
			l.by.Sequence = o.numbers[l.rows] + rows
		}
	}
	for i := range o.log {
		if real, ok := store.ResolveIn(o.s, o.log[i].id); ok {
			o.log[i].id = real
		}
	}
	first := make(map[string]int) // by queue
	for i, l := range o.log {
		if _, ok := first[l.queue]; !ok {
			first[l.queue] = i
		}
	}
	slices.SortStableFunc(o.log, func(a, b probeLogged) int { // calls last
		return cmp.Or(cmp.Compare(a.by.Call, b.by.Call), cmp.Compare(first[a.queue], first[b.queue]), cmp.Compare(a.rank(), b.rank()))
	})
	o.look(o.command)
	o.last = fmt.Sprint("flush ", o.flushes)
	o.flushes++
	o.log, o.made = o.log[:0], o.made[:0]
	clear(o.numbers)
}

// rank orders the commands of a queue as a probe does.
func (l *probeLogged) rank() int {
	switch {
	case l.by.Kind == "create":
		return 0
	case l.by.Kind == "erase all":
		return 4
	case l.by.Kind != "erase":
		return 1
	case l.rows != "":
		return 3
	}
	return 2
}

func (o *probeOracle) command(c probeCell, had, has bool) (by entrance.Cause, lost []entrance.Cause) {
	part := ""
	if at := probeOrder(c.field); at >= 1 && at <= 4 {
		part = c.field
	}
	lives := store.HasIn(o.s, c.id)
	var creates, values, alls, erases, all []entrance.Cause
	for _, l := range o.log {
		switch {
		case l.id == 0 && had && l.table == o.tableOf(c.id):
			alls = append(alls, l.by)
		case l.id != c.id || l.id == 0:
			continue
		case l.by.Kind == "create":
			creates = append(creates, l.by)
			if part != "" {
				continue
			}
		case l.by.Kind == "erase":
			erases = append(erases, l.by)
		case l.part == part:
			values = append(values, l.by)
		default:
			continue
		}
		if l.id == c.id || had {
			all = append(all, l.by)
		}
	}
	switch {
	case !lives && len(alls)+len(erases) == 0:
		return entrance.Cause{Kind: "erase", Phase: "the end of the events", Pass: -1, Task: -1, Sequence: -1}, all
	case !lives:
		by = append(alls, erases...)[0]
	case len(values) > 0:
		by = values[len(values)-1]
	case len(creates) > 0:
		by = creates[0]
	}
	dropped := false
	lost = slices.DeleteFunc(all, func(c entrance.Cause) bool {
		drop := !dropped && c == by
		dropped = dropped || drop
		return drop
	})
	return by, lost
}

func (o *probeOracle) tableOf(id store.ID) string {
	for _, name := range probeTables {
		if first := o.typeOf(name); id.TypeID() >= first && id.TypeID() < first+2 && (name == "units" || id.TypeID() == first) {
			return name
		}
	}
	return ""
}
