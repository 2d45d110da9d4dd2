package buildcost

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Cost is the cost of a build, including go itself and the linker.
type Cost struct {
	Source
	CPU       time.Duration
	Memory    int64 // peak of the largest process; 0 if unknown
	Functions int   // compiled for the package that uses the tables
	Binary    int64 // bytes, not stripped
}

// Measure builds p rounds times, after a first build of the dependencies, and
// returns the costs. It runs in the module.
func (p Source) Measure(ctx context.Context, rounds int) (costs []Cost, err error) {
	err = p.with(ctx, func(b *builder) error {
		for round := range rounds + 1 {
			c, err := b.cost(ctx)
			if err != nil {
				return err
			}
			if round > 0 {
				costs = append(costs, c)
			}
		}
		return nil
	})
	return costs, err
}

// Functions returns the number of functions compiled for the package that uses
// the tables.
func (p Source) Functions(ctx context.Context) (n int, err error) {
	err = p.with(ctx, func(b *builder) error {
		n, err = b.functions(ctx)
		return err
	})
	return n, err
}

func (p Source) with(ctx context.Context, f func(b *builder) error) (err error) {
	b := builder{Source: p}
	if b.dir, err = os.MkdirTemp("", "buildcost"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	root, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Module.Dir}}", "handloom/store").Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	b.root = strings.TrimSpace(string(root))
	if err := b.write(0); err != nil {
		return err
	}
	return f(&b)
}

// builder builds a program whose files are in dir and, by an overlay, below
// root.
type builder struct {
	Source
	root, dir string
}

func (b *builder) cost(ctx context.Context) (Cost, error) {
	if err := b.write(time.Now().UnixNano()); err != nil {
		return Cost{}, err
	}
	binary := filepath.Join(b.dir, "binary")
	build, err := b.build(ctx, binary, mainPath)
	if err != nil {
		return Cost{}, err
	}
	functions, err := b.functions(ctx)
	if err != nil {
		return Cost{}, err
	}
	info, err := os.Stat(binary)
	if err != nil {
		return Cost{}, err
	}
	return Cost{
		Source:    b.Source,
		CPU:       build.ProcessState.UserTime() + build.ProcessState.SystemTime(),
		Memory:    peak(build.ProcessState),
		Functions: functions,
		Binary:    info.Size(),
	}, nil
}

func (b *builder) functions(ctx context.Context) (int, error) {
	archive := filepath.Join(b.dir, "archive")
	if _, err := b.build(ctx, archive, usePath); err != nil {
		return 0, err
	}
	names, err := b.run(ctx, "go", "tool", "nm", archive)
	if err != nil {
		return 0, err
	}
	return bytes.Count(names.Stdout.(*bytes.Buffer).Bytes(), []byte(" T ")), nil
}

func (b *builder) build(ctx context.Context, to, path string) (*exec.Cmd, error) {
	return b.run(ctx, "go", "build", "-overlay", filepath.Join(b.dir, "overlay"), "-o", to, "handloom/"+path)
}

func (b *builder) write(touched int64) error {
	seen := make(map[string]string)
	for path, text := range b.files(touched) {
		file := filepath.Join(b.dir, strings.ReplaceAll(path, "/", "_"))
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
		seen[filepath.Join(b.root, filepath.FromSlash(path))] = file
	}
	overlay, err := json.Marshal(map[string]any{"Replace": seen})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.dir, "overlay"), overlay, 0o644)
}

func (b *builder) run(ctx context.Context, name string, args ...string) (*exec.Cmd, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = b.root, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, stderr.String())
	}
	return cmd, nil
}
