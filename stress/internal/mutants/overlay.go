package mutants

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
)

// Variable of the environment names the fault that is on in a process.
const Variable = "HANDLOOM_FAULT"

// switchName is what each package with faults has besides, in a file of its own.
const (
	switchName = "faultThatIsOn"
	switchFile = "fault_that_is_on.go"
)

// Overlay writes to the folder dir what the faults make of the files that they change,
// and returns the file that go build -overlay wants, in dir too. The module, in the
// folder root, stays as it is. Both folders are absolute.
func Overlay(all []*Fault, root, dir string) (file string, err error) {
	sources, err := sources(all, os.DirFS(root))
	if err != nil {
		return "", err
	}
	texts := make(map[string]string)
	for name, s := range sources {
		texts[name] = s.text()
		texts[path.Join(path.Dir(name), switchFile)] = "package " + s.pkg + "\n\nimport \"os\"\n\n" +
			"var " + switchName + " = os.Getenv(" + strconv.Quote(Variable) + ")\n"
	}
	replace := make(map[string]string)
	for i, name := range slices.Sorted(maps.Keys(texts)) {
		copied := filepath.Join(dir, strconv.Itoa(i)+".go")
		replace[filepath.Join(root, filepath.FromSlash(name))] = copied
		if err := os.WriteFile(copied, []byte(texts[name]), 0o644); err != nil {
			return "", err
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, overlay, 0o644)
}

// sources returns each file that some of the faults change, with all of them, by its
// path below root.
func sources(all []*Fault, root fs.FS) (map[string]*source, error) {
	sources := make(map[string]*source)
	var bad []error
	for _, f := range all {
		changed, err := f.apply(root)
		bad = append(bad, err)
		for name, text := range changed {
			bad = append(bad, add(sources, f.Name, root, name, text))
		}
	}
	return sources, errors.Join(bad...)
}

// add adds the text that a fault makes of a file.
func add(sources map[string]*source, fault string, root fs.FS, name, text string) error {
	if sources[name] == nil {
		original, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		if sources[name], err = parse(name, string(original)); err != nil {
			return err
		}
	}
	patched, err := parse(name+" with "+fault, text)
	if err != nil {
		return err
	}
	return sources[name].add(fault, patched)
}
