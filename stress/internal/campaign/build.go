package campaign

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"handloom/stress/internal/child"
)

// Build builds the program as an arm wants it and returns how to start it, and
// what removes it again. It takes a Go toolchain, and the module to be that of
// the current folder.
func Build(ctx context.Context, arm Arm) (command child.Command, remove func(), err error) {
	if _, err := exec.LookPath("go"); err != nil {
		return command, nil, fmt.Errorf("there is no Go toolchain: %w", err)
	}
	dir, err := os.MkdirTemp("", "handloom-stress-")
	if err != nil {
		return command, nil, err
	}
	remove = func() { os.RemoveAll(dir) }
	command.Path = filepath.Join(dir, "stress")
	build := exec.CommandContext(ctx, "go", append(append([]string{"build"}, arm.Flags...), "-o", command.Path, "handloom/stress")...)
	if out, err := build.CombinedOutput(); err != nil {
		remove()
		text, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return command, nil, fmt.Errorf("go build %s: %w: %s", strings.Join(arm.Flags, " "), err, text)
	}
	// A race ends the child at once, so that its report is the last thing said.
	command.Env = []string{fmt.Sprintf("GORACE=halt_on_error=1 exitcode=%d", ExitRace)}
	return command, remove, nil
}
