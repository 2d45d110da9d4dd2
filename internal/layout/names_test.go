package layout

import (
	"go/ast"
	"io/fs"
	"path"
	"strings"
	"testing"
)

// Each fuzz target has inputs that go test replays.
func TestFuzz_CorporaAreCommitted(t *testing.T) {
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
		}
	}, isTest)
}
