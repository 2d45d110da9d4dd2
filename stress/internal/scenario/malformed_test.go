package scenario

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// good is a scenario; line 4 begins its table.
const good = `{
	"ticks": 10,
	"tables": [
		{"name": "a", "items": 5, "bytes": 32, "erases": 1}
	],
	"passes": [
		{"table": "a", "steps": 2}
	]
}
`

func TestAFaultOfAFileHasALineAndAReason(t *testing.T) {
	if s, err := Parse("f", []byte(good)); err != nil || s.Tables[0].Shards != 1 || s.Tables[0].Items != 5 || s.Name != "f" {
		t.Fatalf("%+v, %v", s, err)
	}
	tests := []struct{ old, new, want string }{
		{good, "", "f:1: the file ends within the scenario"},
		{good, "[]", "f:1: want an object; found array"},
		{good, "null", "f:1: the scenario is null"},
		{"{\n", "{,\n", "f:1: invalid character ','"},
		{"10,", "10", `f:3: invalid character '"' after object key:value pair`},
		{"10,", "ten,", "f:2: invalid character 'e' in literal true (expecting 'r')"},
		{"}\n\t]\n}\n", "}\n\t]\n", "f:8: the file ends within the scenario"},
		{"\t]\n}\n", "\t]\n}\n{}", "f:10: something follows the scenario"},
		{"\"ticks\"", "\"tick\"", `f:2: unknown field "tick"`},
		{"\"ticks\"", "\"Ticks\"", `f:2: unknown field "Ticks"`},
		{"\"items\"", "\"ticks\"", `f:4: unknown field "tables[0].ticks"`},
		{"\"steps\"", "\"body\"", `f:7: unknown field "passes[0].body"`},
		{"\"items\": 5", "\"items\": 5, \"items\": 6", "f:4: tables[0].items is given twice"},
		{"\"ticks\": 10,", "\"ticks\": 10,\n\"hz\": 1, \"ticks\": 11,", "f:3: ticks is given twice"},
		{"10,", "\"10\",", "f:2: ticks: want a whole number; found string"},
		{"10,", "1.5,", "f:2: ticks: want a whole number; found number 1.5"},
		{"10,", "null,", "f:2: ticks is null"},
		{"10,", "0,", "f:2: ticks: 0; want 1 to 1000000000"},
		{"\t\"ticks\": 10,\n", "", "f:1: ticks: 0; want 1 to 1000000000"},
		{"10,", "10, \"hz\": -1,", "f:2: hz: -1; want 0 to 10000"},
		{"10,", "10,\n\"readers\": 1001,", "f:3: readers: 1001; want 0 to 1000"},
		{`{"name": "a", "items": 5, "bytes": 32, "erases": 1}`, "", "f:3: tables: 0 of them; want 1 to 64"},
		{`"name": "a", "items"`, `"items"`, `f:4: tables[0].name: ""; want 1 to 40 bytes`},
		{"\"erases\": 1}", "\"erases\": 1},\n{\"name\": \"a\", \"bytes\": 32}", `f:5: tables[1].name: "a" is the name of another table`},
		{": 32", ": 33", "f:4: tables[0].bytes: 33; want one of [32 64 128 256 1024]"},
		{"\"erases\": 1", "\n\"shards\": 65", "f:5: tables[0].shards: 65; want 1 to 64"},
		{"\"erases\": 1", "\"shards\": -1", "f:4: tables[0].shards: -1; want 1 to 64"},
		{": 5,", ": -5,", "f:4: tables[0].items: -5; want 0 to 100000000"},
		{": 5,", ": 5, \"max_items\": 4,", "f:4: tables[0].items: 5 exceed max_items, 4"},
		{"\"erases\": 1", "\"erases\": -1", "f:4: tables[0].erases: -1; want 0 to 10000000"},
		{"\"erases\": 1", "\"creates\": 1, \"links\": 2", "f:4: tables[0].links: 2; want 0 to 1"},
		{"\"erases\": 1", "\"skew\": 1.01", "f:4: tables[0].skew: 1.01; want 0 to 1"},
		{"\"erases\": 1", "\"inbox\": 100001", "f:4: tables[0].inbox: 100001; want 0 to 100000"},
		{"\"erases\": 1", "\"stable\": 1", "f:4: tables.stable: want true or false; found number"},
		{"\"table\": \"a\"", "\"table\": \"b\"", `f:7: passes[0].table: "b" is no table`},
		{"\"steps\": 2", "\"steps\": 100001", "f:7: passes[0].steps: 100001; want 0 to 100000"},
	}
	for _, tt := range tests {
		text := strings.Replace(good, tt.old, tt.new, 1)
		if text == good {
			t.Fatalf("%q is not in the file", tt.old)
		}
		_, err := Parse("f", []byte(text))
		var fault *Error
		if !errors.As(err, &fault) || err.Error() != tt.want {
			t.Errorf("with %q for %q: %v\nwant %s", tt.new, tt.old, err, tt.want)
		}
	}
}

func TestAScenarioIsANameOrAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "my.json")
	if err := os.WriteFile(path, []byte(good), 0o644); err != nil {
		t.Fatal(err)
	}
	if s, err := Load(path); err != nil || s.Name != path || s.Ticks != 10 {
		t.Errorf("%+v, %v", s, err)
	}
	_, err := Load("no-such")
	if want := "open no-such: no such file or directory; a scenario is a file or one of arena, bullet-hell, churn, city-traffic, hot-shard, mmo-zone"; err == nil || err.Error() != want {
		t.Errorf("%v; want %s", err, want)
	}
}

// FuzzParse holds Parse to its word: whatever the bytes, it returns a scenario
// that its own checks accept, or a fault with a line of the file.
func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	for _, name := range Names() {
		text, err := builtIn.ReadFile("scenarios/" + name + ".json")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse("f", text)
		if err == nil {
			if path, reason := s.check(); reason != "" {
				t.Errorf("accepted, with %s: %s", path, reason)
			}
			return
		}
		var fault *Error
		if !errors.As(err, &fault) || fault.Line < 1 || fault.Line > 1+strings.Count(string(text), "\n") || fault.Reason == "" {
			t.Errorf("%#v of %q", err, text)
		}
	})
}
