package history

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"handloom/internal/entrance"
	"handloom/store"
)

// parseScript returns the ticks of the text of a [Script]. Errors have the line.
func parseScript(text string, tables []entrance.Table) ([]stageTick, error) {
	p := scriptParser{tables: tables}
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		// The text of a call has no end of its own.
		if !strings.HasPrefix(line, "and ") {
			if err := p.endCall(); err != nil {
				return nil, err
			}
		}
		if err := p.line(i+1, line); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	if err := p.endCall(); err != nil {
		return nil, err
	}
	if len(p.ticks) == 0 {
		return nil, errors.New("line 1: got no tick")
	}
	return p.ticks, nil
}

type scriptParser struct {
	tables []entrance.Table
	ticks  []stageTick
	call   []scriptCommand // not yet in ticks
}

// A scriptCommand is a command whose handles and value are still text: they may name a later
// create.
type scriptCommand struct {
	entrance.Command
	line int
	rest string
}

func (p *scriptParser) line(number int, line string) error {
	// Kind, table and part are read here. Handles and values wait for the end of the call.
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "tick":
		return p.tick(rest)
	case "call":
		if len(p.ticks) == 0 {
			return errors.New("got a call before the first tick")
		}
	case "and":
		if len(p.call) == 0 {
			return errors.New("got and without a call before it")
		}
	default:
		return fmt.Errorf("got %q, want tick, call or and", word)
	}
	c, err := p.command(rest)
	c.line = number
	p.call = append(p.call, c)
	return err
}

func (p *scriptParser) tick(rest string) (err error) {
	var t stageTick
	var seed, at string
	if n, _ := fmt.Sscanf(rest, "%d seed %s time %s", &t.Number, &seed, &at); n != 3 {
		return fmt.Errorf("got tick %q, want NUMBER seed SEED time TIME", rest)
	}
	if t.Seed, err = strconv.ParseUint(seed, 0, 64); err != nil {
		return fmt.Errorf("seed: %w", err)
	}
	if t.Time, err = time.Parse(time.RFC3339Nano, at); err != nil {
		return err
	}
	// A gap would be ticks that the script does not have, and Play has no log.
	if n := len(p.ticks); n > 0 && t.Number != p.ticks[n-1].Number+1 {
		return fmt.Errorf("got tick %d, want %d", t.Number, p.ticks[n-1].Number+1)
	}
	p.ticks = append(p.ticks, t)
	return nil
}

// command reads kind, table and part.
func (p *scriptParser) command(text string) (c scriptCommand, err error) {
	r := literalReader{rest: text}
	c.Kind, c.Table, c.Part = r.match(wordPattern), -1, -1
	parts := false
	switch c.Kind {
	case "create", "put":
	case "erase":
		if r.space(); handlePattern.MatchString(r.rest) { // of an unknown typeId
			c.rest = r.rest
			return c, nil
		}
		// A table that is called all has quotes: see quoteName.
		if strings.HasPrefix(r.rest, "all ") {
			r.skip("all")
			c.Kind = "erase all"
		}
	case "set", "unset":
		parts = true
	default:
		return c, fmt.Errorf("got command %q, want create, put, erase, set or unset", c.Kind)
	}
	name, err := r.name()
	if err != nil {
		return c, err
	}
	if c.Table = p.indexOf(name); c.Table < 0 {
		return c, fmt.Errorf("got table %q, want a table of the game", name)
	}
	if parts {
		if !r.skip(".") {
			return c, r.unexpected(". and a column or sparse data")
		}
		if name, err = r.name(); err != nil {
			return c, err
		}
		for i, part := range p.tables[c.Table].Parts {
			if part.Name == name {
				c.Part = i
			}
		}
		if c.Part < 0 {
			return c, fmt.Errorf("got %q, want a column or sparse data of table %q", name, p.tables[c.Table].Name)
		}
	}
	c.rest = r.rest
	return c, nil
}

func (p *scriptParser) indexOf(name string) int {
	for i, t := range p.tables {
		if t.Name == name {
			return i
		}
	}
	return -1
}

// name reads the name of a table or a part.
func (r *literalReader) name() (string, error) {
	if word := r.match(wordPattern); word != "" {
		return word, nil
	}
	return r.quoted()
}

// endCall adds the call to the last tick.
func (p *scriptParser) endCall() error {
	if len(p.call) == 0 {
		return nil
	}
	// Creates are numbered first: a command may name a later one.
	var creates []store.ID
	numbers := make(map[int]uint64)
	for i := range p.call {
		if c := &p.call[i]; c.Kind == "create" {
			numbers[c.Table]++
			creates = append(creates, provisional(&p.tables[c.Table], numbers[c.Table]))
		}
	}
	id := func(text string) (store.ID, error) {
		if number, ok := strings.CutPrefix(text, "$"); ok {
			n, err := strconv.Atoi(number)
			switch {
			case err != nil || n > len(creates):
				return 0, fmt.Errorf("got %s, want at most $%d: the creates of the call", text, len(creates))
			case n == 0:
				return freeBit, nil
			}
			return creates[n-1], nil
		}
		return store.ParseID(text)
	}
	var call []entrance.Command
	for i := range p.call {
		c := &p.call[i]
		if err := p.values(c, id); err != nil {
			return fmt.Errorf("line %d: %w", c.line, err)
		}
		call = append(call, c.Command)
	}
	t := &p.ticks[len(p.ticks)-1]
	t.calls, p.call = append(t.calls, call), nil
	return nil
}

// values reads handle and value of a command.
func (p *scriptParser) values(c *scriptCommand, id func(string) (store.ID, error)) error {
	r := literalReader{rest: c.rest, id: id}
	if c.Kind != "create" && c.Kind != "erase all" {
		var h store.ID
		if err := r.value(reflect.ValueOf(&h).Elem()); err != nil {
			return err
		}
		c.ID = uint64(h)
	}
	if c.Kind == "create" || c.Kind == "put" || c.Kind == "set" {
		create := p.tables[c.Table].New
		if c.Part >= 0 {
			create = p.tables[c.Table].Parts[c.Part].New
		}
		c.Value = create()
		if err := r.value(reflect.ValueOf(c.Value).Elem()); err != nil {
			return fmt.Errorf("%s: %w", p.tables[c.Table].Name, err)
		}
	}
	if r.space(); r.rest != "" {
		return r.unexpected("the end of the line")
	}
	return nil
}
