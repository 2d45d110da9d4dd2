package site

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Names is the file with the words that people search for but the pages lack. A line has a page
// or section and its names:
//
//	undo.md: redo, step back
//	rules.md#checks: debug build
const Names = "search.txt"

// readNames reads the file Names, which may be missing.
func (g *Guide) readNames(pages fs.FS, byFile map[string]*Page) error {
	text, err := fs.ReadFile(pages, Names)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		to, names, _ := strings.Cut(line, ": ")
		section := sectionAt(byFile, to)
		if section == nil || names == "" {
			return fmt.Errorf("%s:%d: got %q, want PAGE.md#SECTION: NAME, NAME", Names, number, line)
		}
		section.Names = append(section.Names, strings.Split(names, ", ")...)
	}
	return err
}

// sectionAt returns the section of a page, by default the first, or nil.
func sectionAt(byFile map[string]*Page, to string) *Section {
	file, id, part := strings.Cut(to, "#")
	p := byFile[file]
	if p == nil {
		return nil
	}
	at := slices.IndexFunc(p.Sections, func(s Section) bool { return !part || s.ID == id })
	if at < 0 {
		return nil
	}
	return &p.Sections[at]
}

// entry is a section in the search index.
type entry struct {
	To      string   `json:"to"`
	Page    string   `json:"page"`
	Heading string   `json:"heading"`
	Text    string   `json:"text"`
	Names   []string `json:"names,omitempty"`
}

// searchIndex returns a script with the text of every section.
func (g *Guide) searchIndex() ([]byte, error) {
	var all []entry
	for _, p := range g.Pages[1:] {
		for _, s := range p.Sections {
			all = append(all, entry{target(p.File) + "#" + s.ID, p.Title, cmp.Or(s.Heading, p.Title), s.Text, s.Names})
		}
	}
	list, err := json.Marshal(all)
	return slices.Concat([]byte("const sections = "), list, []byte(";\n")), err
}
