package campaign

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"handloom/stress/internal/child"
)

// Build builds what plays programs into a folder as an arm wants it, and returns how
// to start it. It takes a Go toolchain, and the module to be that of the current
// folder.
func Build(ctx context.Context, arm Arm, dir string) (command child.Command, err error) {
	if _, err := exec.LookPath("go"); err != nil {
		return command, fmt.Errorf("there is no Go toolchain: %w", err)
	}
	command = Command(filepath.Join(dir, "player-"+arm.Name))
	build := exec.CommandContext(ctx, "go", append(append([]string{"build"}, arm.Flags...), "-o", command.Path, "handloom/stress/internal/childmain")...)
	if out, err := build.CombinedOutput(); err != nil {
		text, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return command, fmt.Errorf("go build %s: %w: %s", strings.Join(arm.Flags, " "), err, text)
	}
	return command, nil
}

// Command returns how a program is started as a child. A race ends it at once, so
// that its report is the last thing said.
func Command(path string) child.Command {
	return child.Command{Path: path, Env: []string{fmt.Sprintf("GORACE=halt_on_error=1 exitcode=%d", ExitRace)}}
}
