package layout

import (
	"go/ast"
	"io/fs"
	"path"
	"strings"
	"testing"
)

func TestExamples_ImportNoEngine(t *testing.T) {
	eachFile(t, repository, func(file, text string) {
		if strings.Contains(text, `"handloom/batch"`) || strings.Contains(text, `"handloom/shard"`) {
			t.Errorf("%s imports the engine", file)
		}
	}, func(file string) bool {
		page := room(file) == "guide" && strings.HasSuffix(file, ".md")
		example := strings.HasPrefix(path.Base(file), "example_") && strings.HasSuffix(file, "_test.go")
		return page || example && room(file) != "batch" && room(file) != "shard"
	})
}

// Tests with these names list deliberate mistakes, one per entry of a table. Users in their first
// sessions made 67; one is a call of an API that is gone.
func TestMistakes_AreListed(t *testing.T) {
	const minMistakes = 67
	listed := 0
	eachFile(t, repository, func(file, text string) {
		_, parsed := parse(t, file, text)
		for _, d := range parsed.Decls {
			if f, is := d.(*ast.FuncDecl); is && f.Name.Name == "TestMistakes_NameTheirFix" {
				n := 0
				ast.Inspect(f, func(node ast.Node) bool {
					if c, is := node.(*ast.CompositeLit); is {
						if _, table := c.Type.(*ast.MapType); table {
							n += len(c.Elts)
						}
					}
					return true
				})
				listed += n
			}
		}
	}, isTest)
	if listed < minMistakes {
		t.Errorf("mistakes in tests: got %d, want at least %d", listed, minMistakes)
	}
}

// Each fuzz target has inputs that go test replays.
func TestFuzz_CorporaAreCommitted(t *testing.T) {
	const maxBytes = 64 << 10
	eachFile(t, repository, func(file, text string) {
		_, parsed := parse(t, file, text)
		for _, d := range parsed.Decls {
			f, is := d.(*ast.FuncDecl)
			if !is || !strings.HasPrefix(f.Name.Name, "Fuzz") {
				continue
			}
			inputs, err := fs.Glob(repository, path.Join(path.Dir(file), "testdata/fuzz", f.Name.Name, "*"))
			noError(t, err)
			if len(inputs) == 0 {
				t.Errorf("%s: %s has no inputs in testdata/fuzz; run make fuzz, and keep some", file, f.Name.Name)
			}
			for _, input := range inputs {
				info, err := fs.Stat(repository, input)
				noError(t, err)
				if info.Size() > maxBytes {
					t.Errorf("%s: got %d bytes, want at most %d", input, info.Size(), maxBytes)
				}
			}
		}
	}, isTest)
}
