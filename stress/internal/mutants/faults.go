package mutants

import (
	"io/fs"
	"path"
	"strings"
)

type Fault struct {
	Name  string
	About string // description
	Rare  bool   // random programs take minutes to find it

	// Package and Test name the test of a fault that no program can find, or
	// are "".
	Package, Test string

	hunks []hunk
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
