package cli

import (
	"fmt"
	"os"
	"path/filepath"
)

// CheckFile returns an error if a file cannot be written, for a check before
// long work.
func CheckFile(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return fmt.Errorf("%s: is a directory", path)
	}
	if info, err = os.Stat(filepath.Dir(path)); err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s: is not a directory", filepath.Dir(path))
	}
	return nil
}

// WriteFile replaces a file by a rename, or leaves it unchanged on error. It
// writes to pipes and devices directly.
func WriteFile(path string, data []byte) (err error) {
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return os.WriteFile(path, data, mode)
		}
		mode = info.Mode().Perm()
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close() // closing twice is harmless
			os.Remove(f.Name())
		}
	}()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Chmod(mode); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
