package lockfile

import (
	"errors"
	"strings"
	"testing"
)

func TestLock_HasOneHolder(t *testing.T) {
	path := t.TempDir() + "/lock"
	for range 2 { // in the second round the file exists
		held, err := Lock(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Lock(path); !errors.Is(err, ErrHeld) || !strings.Contains(err.Error(), path) {
			t.Errorf("second Lock: %v, want ErrHeld and the file", err)
		}
		if err := held.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Lock(t.TempDir() + "/none/lock"); err == nil || errors.Is(err, ErrHeld) {
		t.Errorf("Lock in a folder that does not exist: %v", err)
	}
}
