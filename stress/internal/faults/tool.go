package faults

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// Root returns the folder of the module, which must be that of the current folder.
func Root(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "handloom").Output()
	if err != nil {
		return "", fmt.Errorf("faults are put into the source, which is not here, or there is no Go toolchain: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// FailsTest reports whether the test of the fault fails with it. That it passes
// without is for others to see.
func (f *Fault) FailsTest(ctx context.Context, root, overlay string) (bool, error) {
	test := exec.CommandContext(ctx, "go", "test", "-overlay", overlay, "-count=1", "-run", "^"+f.Test+"$", "-v", f.Package)
	test.Dir = root
	out, err := test.CombinedOutput()
	if strings.Contains(string(out), "--- FAIL: "+f.Test+" ") || strings.Contains(string(out), "panic: ") {
		return true, nil
	}
	if err == nil && strings.Contains(string(out), "--- PASS: "+f.Test+" ") {
		return false, nil
	}
	return false, fmt.Errorf("%s of %s came to no end: %v\n%s", f.Test, f.Package, err, out)
}
