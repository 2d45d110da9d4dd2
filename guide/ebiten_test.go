package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The program of engine.md builds for the browser; -trimpath as for the playground, so the
// standard library compiles once for both.
func TestEngine_Builds(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles an engine")
	}
	goCommand := func(args ...string) ([]byte, error) {
		cmd := exec.Command("go", args...)
		cmd.Dir = "ebiten"
		cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOOS=js", "GOARCH=wasm")
		return cmd.CombinedOutput()
	}
	if out, err := goCommand("mod", "download"); err != nil {
		t.Skipf("the engine cannot be downloaded: %v: %s", err, out)
	}
	if out, err := goCommand("build", "-trimpath", "-o", filepath.Join(t.TempDir(), "sparks"), "."); err != nil {
		t.Errorf("go build: %v: %s", err, out)
	}
}
