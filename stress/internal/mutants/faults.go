package mutants

import (
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"strings"
)

type Fault struct {
	Name  string
	About string // description

	// Package and Test name the test that finds the fault: [Programs] of
	// proof/runner, or another test if no program can find it.
	Package, Test string

	hunks []hunk
}

// Programs is the test that plays random programs.
const Programs = "TestPlay_MatchesModels"

// parts returns the arguments of the processes that run the test. Random programs
// keep all processors busy.
func (f *Fault) parts() (all [][]string) {
	test := "-test.run=^" + f.Test + "$"
	if f.Test != Programs {
		return [][]string{{test}}
	}
	for i := range runtime.NumCPU() {
		all = append(all, []string{test, "-shrink=0s", "-programs=250", fmt.Sprint("-first=", i+1), fmt.Sprint("-stride=", runtime.NumCPU())})
	}
	return all
}

const suffix = ".patch"

// Load parses the patches of a folder, in order of names.
func Load(folder fs.FS) ([]*Fault, error) {
	files, err := fs.Glob(folder, "*"+suffix)
	if err != nil {
		return nil, err
	}
	var all []*Fault
	for _, file := range files {
		text, err := fs.ReadFile(folder, file)
		if err != nil {
			return nil, err
		}
		f, err := Parse(strings.TrimSuffix(file, suffix), string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// apply returns the patched text of each file, by path below root, the folder
// of the module. The lines of each place must occur once.
func (f *Fault) apply(root fs.FS) (map[string]string, error) {
	changed := make(map[string]string)
	for _, h := range f.hunks {
		text, ok := changed[h.file]
		if !ok {
			b, err := fs.ReadFile(root, path.Clean(h.file))
			if err != nil {
				return nil, err
			}
			text = string(b)
		}
		text, err := h.apply(f.Name, text)
		if err != nil {
			return nil, err
		}
		changed[h.file] = text
	}
	return changed, nil
}
