package mutants

import (
	"fmt"
	"strings"
)

// hunk is one place of one file.
type hunk struct {
	file     string // path below the module, with slashes
	line     int    // first line in the patch
	old, new string // whole lines
}

func Parse(name, text string) (*Fault, error) {
	f := &Fault{Name: name, Package: "./proof/runner", Test: Programs}
	file, about := "", []string(nil)
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		bad := func(reason string) error { return fmt.Errorf("%s.patch:%d: %s", name, i+1, reason) }
		path, isFile := strings.CutPrefix(line, "--- ")
		switch {
		case isFile:
			file = path
		case file == "":
			if err := f.header(line, &about); err != nil {
				return nil, bad(err.Error())
			}
		case line == "@@":
			f.hunks = append(f.hunks, hunk{file: file, line: i + 1})
		case len(f.hunks) == 0 || f.hunks[len(f.hunks)-1].file != file:
			return nil, bad("want a line @@ before the first line of a place")
		case !f.hunks[len(f.hunks)-1].add(line):
			return nil, bad("want a line that begins with a space, - or +")
		}
	}
	f.About = strings.Join(about, " ")
	return f, f.check()
}

func (f *Fault) header(line string, about *[]string) error {
	test, isTest := strings.CutPrefix(line, "test: ")
	switch {
	case isTest:
		var ok bool
		if f.Package, f.Test, ok = strings.Cut(test, " "); !ok {
			return fmt.Errorf("want test: PACKAGE NAME")
		}
	case line != "":
		*about = append(*about, line)
	}
	return nil
}

func (h *hunk) add(line string) bool {
	if line == "" {
		line = " " // an empty line of context, trimmed by an editor
	}
	rest := line[1:] + "\n"
	switch line[0] {
	case ' ':
		h.old += rest
		h.new += rest
	case '-':
		h.old += rest
	case '+':
		h.new += rest
	default:
		return false
	}
	return true
}

func (f *Fault) check() error {
	switch {
	case f.About == "":
		return fmt.Errorf("%s.patch: no description of the fault", f.Name)
	case len(f.hunks) == 0:
		return fmt.Errorf("%s.patch: it changes nothing", f.Name)
	}
	for _, h := range f.hunks {
		if h.old == "" || h.old == h.new {
			return fmt.Errorf("%s.patch:%d: want lines that are there, and a change of them", f.Name, h.line)
		}
	}
	return nil
}

// apply applies the hunk to the text of its file. The old lines must occur
// once.
func (h *hunk) apply(name, text string) (string, error) {
	lines := "\n" + h.old
	text = "\n" + text
	times, at := 0, 0
	for i := 0; i < len(text); i++ {
		if strings.HasPrefix(text[i:], lines) {
			times++
			at = i
		}
	}
	if times != 1 {
		first, _, _ := strings.Cut(h.old, "\n")
		return "", fmt.Errorf("%s.patch:%d: the lines from %q are in %s %d times, not once", name, h.line, first, h.file, times)
	}
	return (text[:at] + "\n" + h.new + text[at+len(lines):])[1:], nil
}
