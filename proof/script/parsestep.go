package script

import (
	"fmt"
	"slices"
	"strings"
)

// step reads a line after "do".
func (r *reader) step(words []string) error {
	if words[0] == "end" {
		if !r.writing || len(words) > 1 {
			return fmt.Errorf("end ends no write")
		}
		r.writing = false
		return nil
	}
	task, inside := 0, false
	// The task of a command precedes its operation.
	if words[0][0] == '@' {
		var err error
		if task, err = parseNumber(words[0][1:], maxTasks-1); err != nil {
			return fmt.Errorf("task %w", err)
		}
		if words, inside = words[1:], true; len(words) == 0 {
			return fmt.Errorf("want an operation after @%d", task)
		}
	}
	op, ok := byName[words[0]]
	if !ok {
		return fmt.Errorf("no operation is called %q", words[0])
	}
	into, err := r.place(op, inside)
	if err != nil {
		return err
	}
	s := Step{Op: op, Task: task, Line: r.line}
	if err := r.arguments(&s, words[1:]); err != nil {
		return fmt.Errorf("%v: %w", op, err)
	}
	if op == Write {
		r.writing = true
	}
	*into = append(*into, s)
	return nil
}

// place returns the list to which a line with the operation belongs.
func (r *reader) place(op Op, inside bool) (*[]Step, error) {
	// Bodies belong to the last step of the list around them.
	at, into := alone, &r.program.Steps
	if r.writing {
		at, into = inWrite, &last(into).Body
	}
	if inside {
		// Lines of a write have no @, and tasks of its passes belong to the last pass.
		if len(*into) == 0 || !last(into).Op.HasBody() || last(into).Op == Write {
			return nil, fmt.Errorf("a line of a task does not follow a step with tasks")
		}
		at, into = inTask, &last(into).Body
	}
	if specs[op].where&at == 0 {
		return nil, fmt.Errorf("%v cannot stand %s", op, map[where]string{alone: "alone", inWrite: "inside a write", inTask: "in a task"}[at])
	}
	return into, nil
}

// last returns the last step. The list must not be empty.
func last(steps *[]Step) *Step { return &(*steps)[len(*steps)-1] }

// arguments reads the words after the operation. Operands come before the
// references, each at most once.
func (r *reader) arguments(s *Step, words []string) error {
	for _, part := range []struct {
		takes takes
		what  string
		read  func(s *Step, w string) error
	}{
		// The order of operands in a line.
		{table, "a table", r.tableOf}, {word, "a word", r.word}, {name | names, "a name, %N", r.names},
	} {
		if specs[s.Op].takes&part.takes == 0 {
			continue
		}
		if len(words) == 0 {
			return fmt.Errorf("want %s", part.what)
		}
		if err := part.read(s, words[0]); err != nil {
			return err
		}
		words = words[1:]
	}
	return r.rest(s, words)
}

// tableOf reads the table of a step.
func (r *reader) tableOf(s *Step, w string) error {
	t, ok := r.tables[w]
	if !ok {
		return fmt.Errorf("no table is called %q", w)
	}
	s.Table = t
	return nil
}

// word reads the word of a step: a kind of misuse or of elements.
func (r *reader) word(s *Step, w string) error {
	// Only the runner knows the misuses.
	if s.Word = w; s.Op == Misuse {
		return nil
	}
	t := &r.program.Tables[s.Table]
	if s.Op == AddColumn && t.Kind != Packed {
		return fmt.Errorf("table %s is %s and has no columns", t.Name, t.Kind)
	}
	if r.columns[s.Table]++; r.columns[s.Table] > maxColumns {
		return fmt.Errorf("table %s has more than %d columns", t.Name, maxColumns)
	}
	if !slices.Contains(Items, s.Word) {
		return fmt.Errorf("%q is not a kind of element; want %s", s.Word, strings.Join(Items, ", "))
	}
	return nil
}

// names reads the name of the first create, and the number of creates.
func (r *reader) names(s *Step, w string) error {
	_, many := s.Op.Makes()
	if w[0] != '%' {
		return fmt.Errorf("%q: want a name, %%N", w)
	}
	ref, err := parseBase(w)
	switch {
	case err != nil:
		return fmt.Errorf("%q: %w", w, err)
	case strings.Contains(w, "*") && !many:
		return fmt.Errorf("%q: it makes one item", w)
	case ref.N == 0:
		return fmt.Errorf("names begin with %%1")
	}
	s.Name, s.N = ref.N, 1
	if strings.Contains(w, "*") {
		s.N = ref.Count
	}
	// A short file must not make a run of many gigabytes.
	if r.items += s.N; r.items > maxItems {
		return fmt.Errorf("the program makes more than %d items", maxItems)
	}
	for n := s.Name; n < s.Name+s.N; n++ {
		// Each name has one create, so a reference needs no position.
		if r.made[n] {
			return fmt.Errorf("%%%d is made twice", n)
		}
		r.made[n] = true
	}
	return nil
}

// rest reads references and key=value, in any order.
func (r *reader) rest(s *Step, words []string) error {
	sp := &specs[s.Op]
	// Args stays nil for a line without arguments.
	args := make([]int, len(sp.keys))
	settings := make([]setting, len(sp.keys))
	for i, key := range sp.keys {
		// Arguments are read as settings, into the array of the step.
		settings[i] = setting{key, &args[i], maxArgument}
		// A task costs memory even without commands.
		if key == "tasks" {
			settings[i].max = maxTasks
		}
	}
	var pairs []string
	for _, w := range words {
		if !strings.Contains(kinds, w[:1]) {
			pairs = append(pairs, w)
			continue
		}
		if sp.takes&refs == 0 {
			return fmt.Errorf("%q: it takes no reference", w)
		}
		ref, err := parseRef(w, r.tables)
		if err != nil {
			return err
		}
		s.Refs = append(s.Refs, ref)
	}
	if sp.takes&target != 0 && len(s.Refs) == 0 {
		return fmt.Errorf("want a reference")
	}
	if err := readSettings(pairs, settings); err != nil {
		return err
	}
	if len(pairs) > 0 {
		s.Args = args
	}
	return nil
}
