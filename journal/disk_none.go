//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package journal

// syncsFolders says that names are synced, through the folder as a file.
const syncsFolders = false

func syncFolder(string) error { return nil }
