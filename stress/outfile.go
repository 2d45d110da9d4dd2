package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// checkOut reports early that a file cannot be written, before the work whose
// result it is to hold.
func checkOut(path string) error {
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

// writeOut writes a file whole or leaves it as it was: what exists is replaced
// by a rename. Pipes and devices are written to.
func writeOut(path string, data []byte) (err error) {
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
			f.Close() // a second time does no harm
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
