package schedule

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		noError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	noError(t, err)
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
	}
}

func game(t *testing.T) *Schedule {
	systems := []System{
		{Name: "input", Writes: on(velocity)},
		{Name: "spawn", Emits: on(particle)},
		{Name: "steer", Reads: on(position), Writes: on(velocity)},
		{Name: "move", Reads: on(velocity), Writes: on(position)},
		{Name: "collide", Reads: on(position, particle), Emits: on(event)},
		{Name: "draw", Reads: on(position, particle)},
		{Name: "sparks", Reads: on(event), Emits: on(particle), If: func() bool { return true }},
		{Name: "quake", Writes: on(event, position)},
		{Name: `say "hello"`, After: []string{"input", "collide"}},
	}
	s, err := New(resourceName, idle(systems)...)
	noError(t, err)
	return s
}

func TestExplain_Game(t *testing.T) {
	golden(t, "game.txt", game(t).Explain())
}

func TestExplain_OrderedEmitters(t *testing.T) {
	s := newSchedule(t, System{Name: "a", Writes: on(7)}, System{Name: "b", Reads: on(7), Emits: on(8)}, System{Name: "c", Emits: on(8)})
	want := "wave 1\n  a\nwave 2\n  b\n    reads resource 7, which a writes\n  c\n    emits resource 8, which b emits\n" +
		"flush\n    b emits resource 8\n    c emits resource 8\n"
	if got := s.Explain(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
