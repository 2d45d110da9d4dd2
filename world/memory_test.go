package world_test

import (
	"testing"

	"handloom/journal"
	"handloom/world"
	"handloom/world/logtest"
)

func TestMemory_IsALog(t *testing.T) {
	logtest.Run(t, func(*testing.T) world.Log { return world.Memory() })
}

// region logtest
func TestJournal_IsALog(t *testing.T) {
	logtest.Run(t, func(t *testing.T) world.Log {
		j, err := journal.Open(t.TempDir(), journal.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = j.Close() })
		return j
	})
}

// endregion
