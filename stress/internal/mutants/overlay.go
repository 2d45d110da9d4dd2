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

// Variable is the environment variable that selects the fault of a process.
const Variable = "HANDLOOM_FAULT"

// Each package with faults gets a file with the switch.
const (
	switchName = "faultThatIsOn"
	switchFile = "fault_that_is_on.go"
)

// Overlay writes the patched files to the folder dir and returns the overlay
// file for go build, also in dir. It does not change the module in the folder
// root. Both paths are absolute.
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

// sources returns each file that some fault changes, with all faults, by path
// below root.
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
