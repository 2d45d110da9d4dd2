package script

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// magic is the first line. A change of the syntax changes the number.
const magic = "handloom-stress 1"

// Error is a syntax error of a program and its position.
type Error struct {
	File   string
	Line   int
	Reason string
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason) }

// Limits of a program. They bound the memory used for a corrupt file.
const (
	maxTables   = 2048
	maxConfigs  = 64
	maxTasks    = 4096
	maxColumns  = 16 // of a table
	maxArgument = 1<<31 - 1
	maxItems    = 1 << 20 // created by all steps together
)

// Parse parses a program. Errors are of type [*Error] and call the file name.
func Parse(text []byte, name string) (*Script, error) {
	r := reader{name: name, tables: make(map[string]int), made: make(map[int]bool), columns: make(map[int]int), program: new(Script)}
	for line := range bytes.Lines(text) {
		r.line++
		if err := r.read(string(line)); err != nil {
			return nil, &Error{name, r.line, err.Error()}
		}
	}
	if err := r.end(); err != nil {
		return nil, &Error{name, r.line, err.Error()}
	}
	return r.program, nil
}

// reader reads one line after another into program.
type reader struct {
	name    string
	line    int
	program *Script
	begun   bool
	doing   bool // "do" was read
	writing bool // inside a write
	tables  map[string]int
	made    map[int]bool
	items   int
	columns map[int]int // number by table
}

// end checks that the program is complete.
func (r *reader) end() error {
	switch {
	case !r.begun:
		// An error has a line, also in an empty file.
		r.line = max(r.line, 1)
		return fmt.Errorf("the file is empty; want %q", magic)
	case !r.doing:
		return fmt.Errorf("the program has no line %q", "do")
	case r.writing:
		return fmt.Errorf("the last write has no %q", "end")
	}
	return nil
}

// read reads a line, with or without its newline.
func (r *reader) read(line string) error {
	line = strings.TrimSuffix(line, "\n")
	// Another first line may be another format, so nothing else is read.
	if !r.begun {
		if line != magic {
			return fmt.Errorf("the first line is %.40q; want %q", line, magic)
		}
		r.begun = true
		return nil
	}
	words := strings.Fields(line)
	for i, w := range words {
		// Only the word alone: #1f is a handle.
		if w == "#" {
			words = words[:i]
			break
		}
	}
	switch {
	case len(words) == 0:
		return nil
	case !r.doing:
		return r.head(words[0], words[1:])
	}
	return r.step(words)
}

// head reads a line before "do".
func (r *reader) head(first string, words []string) (err error) {
	p := r.program
	switch first {
	case "seed":
		if len(words) != 1 {
			return fmt.Errorf("want one number after seed")
		}
		if p.Seed, err = strconv.ParseUint(words[0], 10, 64); err != nil {
			return fmt.Errorf("seed: %q is not a number below 2^64", words[0])
		}
	case "revision":
		if len(words) != 1 {
			return fmt.Errorf("want one word after revision")
		}
		p.Revision = words[0]
	case "narrow":
		return readSettings(words, p.Narrow.settings())
	case "store":
		return readSettings(words, p.Store.settings())
	case "table":
		return r.table(words)
	case "config":
		if len(p.Configs) == maxConfigs {
			return fmt.Errorf("more than %d configurations", maxConfigs)
		}
		p.Configs = append(p.Configs, Config{})
		return readSettings(words, p.Configs[len(p.Configs)-1].settings())
	case "do":
		if len(words) > 0 {
			return fmt.Errorf("%q after do", words[0])
		}
		r.doing = true
	default:
		return fmt.Errorf("no setting is called %q; want seed, revision, narrow, store, table, config or do", first)
	}
	return nil
}

// table reads the line of a table.
func (r *reader) table(words []string) error {
	if len(words) < 3 {
		return fmt.Errorf("want table NAME packed|stable ITEM")
	}
	t := Table{Name: words[0], Kind: words[1], Item: words[2]}
	_, taken := r.tables[t.Name]
	switch {
	case !isName(t.Name):
		return fmt.Errorf("%q is not a table name; want letters and digits, a letter first", t.Name)
	case taken:
		return fmt.Errorf("there are two tables %q", t.Name)
	case t.Kind != Packed && t.Kind != Stable:
		return fmt.Errorf("%q is not a kind of table; want %s or %s", t.Kind, Packed, Stable)
	case !slices.Contains(Items, t.Item):
		return fmt.Errorf("%q is not a kind of item; want %s", t.Item, strings.Join(Items, ", "))
	case len(r.program.Tables) == maxTables:
		return fmt.Errorf("more than %d tables", maxTables)
	}
	r.tables[t.Name] = len(r.program.Tables)
	err := readSettings(words[3:], t.settings())
	r.program.Tables = append(r.program.Tables, t)
	return err
}

// isName reports whether s is a table name. A name is a word without the characters of
// references.
func isName(s string) bool {
	for i, c := range s {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
