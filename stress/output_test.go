package main

import (
	"os"
	"path/filepath"
	"testing"

	"handloom/internal/cli"
)

func TestOutput_KeepsSymlinkAndMode(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	writeFile(t, file, []byte("old"))
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	noError(t, cli.WriteFile(link, []byte("new")))
	text := readFile(t, file)
	info, errInfo := os.Lstat(link)
	mode, errMode := os.Stat(file)
	if errInfo != nil || errMode != nil || string(text) != "new" || info.Mode()&os.ModeSymlink == 0 || mode.Mode().Perm() != 0o600 {
		t.Errorf("%q, %v, %v; %v, %v", text, info, mode, errInfo, errMode)
	}
}
