package lockfile

import (
	"errors"
	"os"
	"runtime"
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
		if got := Holder(path); got != "this process" && runtime.GOOS != "windows" {
			t.Errorf("Holder: got %q, want this process", got)
		}
		if err := held.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]string{"process 1\n": "process 1", "process x": "another holder", "": "another holder", "1": "another holder"} {
		if err := os.WriteFile(path, append(make([]byte, ownerAt), text...), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := Holder(path); got != want {
			t.Errorf("Holder of %q: got %q, want %q", text, got, want)
		}
	}
	if _, err := Lock(t.TempDir() + "/none/lock"); err == nil || errors.Is(err, ErrHeld) {
		t.Errorf("Lock in a folder that does not exist: %v", err)
	}
}
