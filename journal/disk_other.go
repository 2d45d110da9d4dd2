//go:build !linux

package journal

import "os"

// syncData returns when f is on the disk.
func syncData(f *os.File) error { return f.Sync() }
