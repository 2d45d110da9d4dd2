//go:build !linux

package journal

import "os"

// syncData makes f durable.
func syncData(f *os.File) error { return f.Sync() }
