package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// write writes the tree of the repository in root and returns the number of files.
func (r *release) write(root string) (int, error) {
	names, err := tracked(root)
	if err != nil {
		return 0, err
	}
	tree := make(map[string]file, len(names))
	for _, name := range names {
		text, mode, err := readFile(root, name)
		if err == nil {
			text, err = r.rewrite(name, text)
		}
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		tree[name] = file{text, mode}
	}
	if err := r.addSums(tree); err != nil {
		return 0, err
	}
	for name, f := range tree {
		to := filepath.Join(r.out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return 0, err
		}
		if err := os.WriteFile(to, f.text, f.mode.Perm()); err != nil {
			return 0, err
		}
	}
	return len(tree), nil
}

type file struct {
	text []byte
	mode fs.FileMode
}

func readFile(root, name string) ([]byte, fs.FileMode, error) {
	from := filepath.Join(root, filepath.FromSlash(name))
	info, err := os.Lstat(from)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("got %v, want a regular file", info.Mode().Type())
	}
	text, err := os.ReadFile(from)
	return text, info.Mode(), err
}

// tracked returns the names of the released files.
func tracked(root string) (names []string, err error) {
	git := exec.Command("git", "ls-files", "-z")
	git.Dir = root
	out, err := git.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		if isReleased(name) {
			names = append(names, name)
		}
	}
	return names, nil
}

func isReleased(name string) bool {
	top, _, folder := strings.Cut(name, "/")
	return !(folder && top[0] == '.') && name != "go.work" && name != "go.work.sum" && !strings.HasPrefix(name, "internal/release/")
}
