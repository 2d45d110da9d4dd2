package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The program of engine.md builds for the browser and, without C, for a desktop. The standard
// library compiles with -trimpath, as for the playground, so once for both.
func TestEngine_Builds(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles an engine twice")
	}
	goCommand := func(system, arch string, args ...string) ([]byte, error) {
		cmd := exec.Command("go", args...)
		cmd.Dir = "ebiten"
		cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
		return cmd.CombinedOutput()
	}
	if out, err := goCommand("linux", "amd64", "mod", "download"); err != nil {
		t.Skipf("the engine cannot be downloaded: %v: %s", err, out)
	}
	for system, arch := range map[string]string{"js": "wasm", "windows": "amd64"} {
		if out, err := goCommand(system, arch, "build", "-trimpath", "-o", filepath.Join(t.TempDir(), "sparks"), "."); err != nil {
			t.Errorf("go build for %s/%s: %v: %s", system, arch, err, out)
		}
	}
}
