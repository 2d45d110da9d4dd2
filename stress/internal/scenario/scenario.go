package scenario

import (
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Scenario is a workload. Its JSON form is what a scenario file holds.
type Scenario struct {
	Name    string  `json:"-"`       // of the scenario, or of its file
	About   string  `json:"about"`   // one line
	Hz      int     `json:"hz"`      // ticks per second; 0: as many as there can be
	Ticks   int     `json:"ticks"`   // how many there are
	Readers int     `json:"readers"` // goroutines that look items up meanwhile
	Tables  []Table `json:"tables"`
	Passes  []Pass  `json:"passes"` // in this order
}

// Table is a table of a scenario. The figures are per tick and, but for creates,
// inbox and links, so on average.
type Table struct {
	Name     string  `json:"name"`
	Items    int     `json:"items"`     // at the start
	MaxItems int     `json:"max_items"` // creates stop there; 0: never
	Bytes    int     `json:"bytes"`     // of an item: 32, 64, 128, 256 or 1024
	Shards   int     `json:"shards"`    // 0: 1
	Stable   bool    `json:"stable"`    // items keep their address
	Creates  int     `json:"creates"`
	Links    int     `json:"links"` // creates that name the create before them
	Erases   int     `json:"erases"`
	Puts     int     `json:"puts"`
	Skew     float64 `json:"skew"`  // share of erases and puts that the first shard has; 0: its fair share
	Inbox    int     `json:"inbox"` // puts that come through the inbox, one a call, to items that may be gone
}

// Pass is one ForEach of every tick.
type Pass struct {
	Table  string `json:"table"`
	Steps  int    `json:"steps"`  // multiplications and shifts for each item, one after another
	Follow bool   `json:"follow"` // asks for each item whether the one it names still lives
}

//go:embed scenarios/*.json
var builtIn embed.FS

// Names returns the scenarios that come with the program.
func Names() []string {
	entries, err := builtIn.ReadDir("scenarios")
	if err != nil {
		panic(err) // it is part of the program
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	return names
}

// Load returns the scenario of that name, or the one in that file. A fault of
// the file is an [*Error].
func Load(nameOrFile string) (*Scenario, error) {
	if slices.Contains(Names(), nameOrFile) {
		text, err := builtIn.ReadFile("scenarios/" + nameOrFile + ".json")
		if err != nil {
			return nil, err
		}
		return Parse(nameOrFile, text)
	}
	text, err := os.ReadFile(nameOrFile)
	if os.IsNotExist(err) {
		return nil, fmt.Errorf("%w; a scenario is a file or one of %s", err, strings.Join(Names(), ", "))
	}
	if err != nil {
		return nil, err
	}
	return Parse(nameOrFile, text)
}

// Error is a fault of a scenario file.
type Error struct {
	File   string
	Line   int
	Reason string
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason) }

// Parse reads a scenario. Every fault is an [*Error] that names file and line:
// what is no JSON, an unknown or repeated field, a value of another type or out
// of range.
func Parse(file string, text []byte) (*Scenario, error) {
	fault := func(line int, reason string) (*Scenario, error) { return nil, &Error{file, line, reason} }
	lines, line, err := positions(text)
	if err != nil {
		return fault(line, err.Error())
	}
	s := &Scenario{Name: file}
	if err := json.Unmarshal(text, s); err != nil {
		line, reason := mistyped(text, err)
		return fault(line, reason)
	}
	if path, reason := s.check(); reason != "" {
		return fault(nearest(lines, path), path+": "+reason)
	}
	return s, nil
}

// nearest returns the line of the value at path, or, when the file does not have
// it, of what should.
func nearest(lines map[string]int, path string) int {
	for path != "" && lines[path] == 0 {
		path = path[:max(strings.LastIndexByte(path, '.'), 0)]
	}
	return lines[path]
}
