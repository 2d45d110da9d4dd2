package world_test

import (
	"path/filepath"
	"testing"

	"handloom/proof/logtest"
	"handloom/world"
)

// Every kind of Log that there is in this module keeps its word.
func TestALogKeepsItsWord(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		logtest.Run(t, func(*testing.T) world.Log { return world.Memory() })
	})
	t.Run("journal", func(t *testing.T) {
		logtest.Run(t, func(t *testing.T) world.Log {
			j := openJournal(t, filepath.Join(t.TempDir(), "log"))
			t.Cleanup(func() { mustCloseJournal(t, j) })
			return j
		})
	})
}
