package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestBrowser_RestartsAfterSilence(t *testing.T) {
	path := find()
	if path == "" || testing.Short() {
		t.Skip("no Chromium is installed, or -short")
	}
	script := filepath.Join(t.TempDir(), "browser")
	text := fmt.Sprintf("#!/bin/sh\nif [ ! -e '%[1]s.ran' ]; then touch '%[1]s.ran'; exit 1; fi\nexec '%[2]s' \"$@\"\n", script, path)
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	b := start(t, script)
	b.Show("data:text/html,<p>fine</p>", 400)
	b.Until(`document.querySelector("p").textContent === "fine"`)
}
