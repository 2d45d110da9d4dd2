package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The program of engine.md builds for the browser and, without C, for a desktop.
func TestEngine_Builds(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles an engine twice")
	}
	goCommand := func(system, arch string, args ...string) error {
		cmd := exec.Command("go", args...)
		cmd.Dir = "ebiten"
		cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Logf("go %v, %s/%s: %s", args, system, arch, out)
		}
		return err
	}
	if err := goCommand("linux", "amd64", "mod", "download"); err != nil {
		t.Skip("the engine cannot be downloaded")
	}
	for system, arch := range map[string]string{"js": "wasm", "windows": "amd64"} {
		if err := goCommand(system, arch, "build", "-o", filepath.Join(t.TempDir(), "sparks"), "."); err != nil {
			t.Errorf("%s/%s: %v", system, arch, err)
		}
	}
}
