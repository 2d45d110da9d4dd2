package history

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"handloom/internal/check"
	"handloom/store"
)

// DiffOptions are the settings of [Diff]; the zero value is usable.
type DiffOptions struct {
	From, To uint64 // ticks; default the first and the last of the newest range
	Every    uint64 // compares the state after each Every-th tick, and after the last; default 1

	// Ignore are values that may differ: "fighter.Gold", "fighter.Pos.X", or "fighter.hull" and
	// "fighter.hull.Left" of a column or sparse data. Free slots of their tables are not compared.
	// "flushes" is the number of flushes with commands.
	Ignore []string
}

// A Difference is the result of [Diff]: the first difference, or the extent of the comparison.
type Difference struct {
	// From and To are the first and the last state that was compared, Every their distance. With
	// Every 1 and without Ignore, equal digests prove that the programs compute the same, for the
	// input of these ticks. Otherwise a difference that ends between two states is not seen.
	From, To, Every uint64

	// Kind is "" if there is no difference, "value" of a field, "item" or "data" that only one of
	// the programs has, and "failure" of a tick in only one. "rows" is only the order of rows,
	// "slots" only free slots and the order of their reuse, and "flushes" only the number of flushes
	// with commands.
	Kind string

	Tick     uint64 // the first tick with a difference
	Table    string // the first table with a difference of an item, else the first one
	Item     store.ID
	Field    string // "": the item
	Old, New Side
}

// A Side is one of the programs of a [Difference].
type Side struct {
	Version string
	Value   string  // text of the field or item; "": none
	Cause   *Change // the last change at or before the tick, or nil
	Err     error   // the error of the tick after To or of the failure; else the reason that Cause is nil
}

// Diff plays a log in two programs, which are paths of executables made with [Main], and compares
// the states after the ticks. It returns the first difference, with the last change of the value in
// both programs, or a Difference without Kind. Both programs begin with the newest snapshot at or
// before DiffOptions.From, of one run of ticks; Init does not run. Versions and the digests of the
// log are not compared. If a tick fails in both programs, the comparison ends before it.
//
// Diff runs the programs as processes side by side, with half of GOMAXPROCS each, and kills them at
// the end. It costs a play of the ticks and a hash of every state.
//
// The tables of both programs must have the same schema; the error has the first line that differs.
// Other errors name the program: [ErrRange], [ErrImpure], [world.ErrCorrupt], [journal.ErrCorrupt],
// and errors of a process that does not answer as Main does.
func Diff(ctx context.Context, dir, oldProgram, newProgram string, o DiffOptions) (*Difference, error) {
	check.Given(ctx != nil, "history: Diff", "context")
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	found, err := diff(ctx, dir, oldProgram, newProgram, o)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("history: Diff: %w", err)
	}
	return found, nil
}

func diff(ctx context.Context, dir, oldProgram, newProgram string, o DiffOptions) (*Difference, error) {
	if o.Every == 0 {
		o.Every = 1
	}
	var d pair
	defer d.close()
	for i, path := range []string{oldProgram, newProgram} {
		var err error
		if d[i], err = startProcess(ctx, [2]string{"old", "new"}[i], path); err != nil {
			return nil, err
		}
	}
	about, err := d.ask(request{Do: "about"})
	if err != nil {
		return nil, err
	}
	if err := compareSchemas(about[0].Schema, about[1].Schema); err != nil {
		return nil, err
	}
	opened, err := d.ask(request{Do: "open", Dir: dir})
	if err != nil {
		return nil, err
	}
	from, to := limits(opened[0].Ranges, o.From, o.To)
	if o.To > 0 && from > to {
		return nil, fmt.Errorf("got ticks %d to %d, want the first not after the last", from, to)
	}
	begun, err := d.ask(request{Do: "begin", From: from, To: to, Ignore: o.Ignore})
	if err != nil {
		return nil, err
	}
	c := comparison{pair: d, Difference: Difference{From: begun[0].From, To: to, Every: o.Every}}
	c.Old.Version, c.New.Version = about[0].Version, about[1].Version
	if begun[0].From != begun[1].From {
		return nil, fmt.Errorf("old begins after tick %d, new after tick %d", begun[0].From, begun[1].From)
	}
	return &c.Difference, c.run(ctx, [2]uint64{begun[0].Sums[0], begun[1].Sums[0]})
}

// compareSchemas returns an error with the first line that differs.
func compareSchemas(a, b string) error {
	old, next := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(old), len(next)) {
		var lines [2]string
		for k, all := range [][]string{old, next} {
			if i < len(all) {
				lines[k] = all[i]
			}
		}
		if lines[0] != lines[1] {
			return fmt.Errorf("schemas differ: old has %q, new has %q; Diff compares programs with the same tables and limits", lines[0], lines[1])
		}
	}
	return nil
}

// A pair is the old and the new program.
type pair [2]*process

func (d *pair) close() {
	for _, p := range d {
		if p != nil {
			p.close()
		}
	}
}

// ask asks both programs at the same time.
func (d *pair) ask(r request) (replies [2]reply, err error) {
	return d.askEach([2]request{r, r})
}

func (d *pair) askEach(r [2]request) (replies [2]reply, err error) {
	var errs [2]error
	done := make(chan bool)
	go func() {
		replies[1], errs[1] = d[1].ask(r[1])
		close(done)
	}()
	replies[0], errs[0] = d[0].ask(r[0])
	<-done
	return replies, errors.Join(errs[0], errs[1])
}

// String returns the difference, with its causes, in one to three lines.
func (d *Difference) String() string {
	var b strings.Builder
	switch d.Kind {
	case "":
		fmt.Fprintf(&b, "no difference after %s from %d to %d", everyTick(d.Every), d.From, d.To)
	case "failure":
		fmt.Fprintf(&b, "tick %d: fails only in one program", d.Tick)
	case "rows":
		fmt.Fprintf(&b, "tick %d, %s: only the order of rows", d.Tick, d.Table)
	case "slots":
		fmt.Fprintf(&b, "tick %d, %s: only free slots or the order of their reuse", d.Tick, d.Table)
	case "flushes":
		fmt.Fprintf(&b, "tick %d: only the number of flushes with commands: old %s, new %s", d.Tick, d.Old.Value, d.New.Value)
	default:
		name := d.Item.String()
		if d.Field != "" {
			name += " " + d.Field
		}
		fmt.Fprintf(&b, "tick %d, %s %s: old %s, new %s", d.Tick, d.Table, name, orNothing(d.Old.Value), orNothing(d.New.Value))
	}
	for i, s := range []*Side{&d.Old, &d.New} {
		name := [2]string{"old", "new"}[i]
		switch {
		case s.Cause != nil:
			fmt.Fprintf(&b, "\n  %s: %v", name, s.Cause)
		case s.Err != nil:
			fmt.Fprintf(&b, "\n  %s: %v", name, s.Err)
		}
	}
	return b.String()
}

func everyTick(every uint64) string {
	if every == 1 {
		return "every tick"
	}
	return fmt.Sprintf("each tick of %d", every)
}
