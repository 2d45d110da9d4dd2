package mutants

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Root returns the root folder of the module of the current folder.
func Root(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Module.Dir}}", "handloom/store").Output()
	if err != nil {
		return "", fmt.Errorf("faults are put into the source, which is not here, or there is no Go toolchain: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// FailsTest reports whether the test of the fault fails with the fault and
// passes without it.
func (f *Fault) FailsTest(ctx context.Context, root, overlay string) (bool, error) {
	passes, err := f.passes(ctx, root, overlay, f.Name)
	if err != nil || passes {
		return false, err
	}
	passes, err = f.passes(ctx, root, overlay, "")
	if err == nil && !passes {
		err = fmt.Errorf("%s of %s fails without the fault, too", f.Test, f.Package)
	}
	return err == nil, err
}

func (f *Fault) passes(ctx context.Context, root, overlay, fault string) (bool, error) {
	test := exec.CommandContext(ctx, "go", "test", "-overlay", overlay, "-count=1", "-run", "^"+f.Test+"$", "-v", f.Package)
	test.Dir, test.Env = root, append(os.Environ(), Variable+"="+fault)
	out, err := test.CombinedOutput()
	if strings.Contains(string(out), "--- FAIL: "+f.Test+" ") || strings.Contains(string(out), "panic: ") {
		return false, nil
	}
	if err == nil && strings.Contains(string(out), "--- PASS: "+f.Test+" ") {
		return true, nil
	}
	return false, fmt.Errorf("%s of %s came to no end: %v\n%s", f.Test, f.Package, err, out)
}
