package script

import (
	"fmt"
	"strings"
)

// setting is a number written as key=value, omitted when 0.
type setting struct {
	key   string
	value *int
	max   int
}

// The methods settings return the numbers of a line, in the order of its text.
func (n *Narrow) settings() []setting {
	return []setting{{"generations", &n.Generations, 1<<16 - 1}, {"slots", &n.Slots, 1<<31 - 1}}
}

func (s *Store) settings() []setting {
	return []setting{{"batch", &s.BatchLimit, 1<<31 - 1}, {"inbox", &s.InboxLimit, 1<<31 - 1}, {"bytes", &s.BatchBytes, 1<<31 - 1}, {"seed", &s.Seed, 1<<31 - 1}}
}

// The limits are the limits of the store, or lower to bound memory.
func (t *Table) settings() []setting {
	return []setting{
		{"shards", &t.Shards, 64},
		{"reserve", &t.Reserve, 1 << 20},
		{"max", &t.Max, 1 << 20},
		{"minfree", &t.MinFree, 1 << 20},
		{"chunk", &t.Chunk, 1 << 20},
		{"fixed", &t.Fixed, 1},
		{"changes", &t.Changes, 1},
		{"events", &t.Events, 1},
	}
}

func (c *Config) settings() []setting {
	return []setting{
		{"workers", &c.Workers, 1024},
		{"procs", &c.Procs, 1024},
		{"team", &c.Team, 1},
		{"shuffle", &c.Shuffle, 1<<31 - 1},
		{"yield", &c.Yield, 1000},
		{"delay", &c.Delay, 1000},
	}
}

// Numbers returns the settings that shrinking may reduce. Configurations are not among
// them: they must not change the result.
func (p *Script) Numbers() (all []*int) {
	settings := append(p.Narrow.settings(), p.Store.settings()...)
	for i := range p.Tables {
		settings = append(settings, p.Tables[i].settings()...)
	}
	for _, s := range settings {
		all = append(all, s.value)
	}
	return all
}

// String returns the configuration as in its line, without the first word.
func (c Config) String() string { return strings.TrimSpace(written(c.settings())) }

// written returns the settings that are not 0 as text, with a space before each.
func written(settings []setting) string {
	var b strings.Builder
	for _, s := range settings {
		if *s.value != 0 {
			fmt.Fprintf(&b, " %s=%d", s.key, *s.value)
		}
	}
	return b.String()
}

// readSettings reads words of the form key=value, each key once.
func readSettings(words []string, settings []setting) error {
	seen := make(map[string]bool)
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		if !ok {
			return fmt.Errorf("%q is not key=value", w)
		}
		at := indexKey(settings, key)
		if at < 0 {
			return fmt.Errorf("no setting is called %q; want %s", key, keys(settings))
		}
		if seen[key] {
			return fmt.Errorf("%s is given twice", key)
		}
		seen[key] = true
		n, err := parseNumber(value, settings[at].max)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		// The value is written only if it is valid.
		*settings[at].value = n
	}
	return nil
}

// indexKey returns the index of a key, or -1.
func indexKey(settings []setting, key string) int {
	for i := range settings {
		if settings[i].key == key {
			return i
		}
	}
	return -1
}

// keys returns the keys as text, for an error.
func keys(settings []setting) string {
	if len(settings) == 0 {
		return "none"
	}
	var all []string
	for _, s := range settings {
		all = append(all, s.key)
	}
	return strings.Join(all, ", ")
}
