package mutants

import (
	"io/fs"
	"path"
	"strings"
)

// Fault is one fault that can be put into the module.
type Fault struct {
	Name  string
	About string // what is wrong then
	Rare  bool   // programs drawn at random take minutes to find it

	// Package and Test name the test that finds the fault. They are for what no
	// program can see, such as memory that is kept; else they are "".
	Package, Test string

	hunks []hunk
}

const suffix = ".patch"

// Load reads the patches of a folder, in the order of their names.
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

// apply returns the text of each file that the fault changes, by its path below
// root, the folder of the module. A patch whose lines are not there once is an
// error that names it, its line and the file.
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
