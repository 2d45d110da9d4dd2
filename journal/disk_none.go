//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package journal

// syncsFolders reports whether names are synced through the open folder.
const syncsFolders = false

func syncFolder(string) error { return nil }
