package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"handloom/guide/internal/site"
)

//go:embed playground/play.html playground/play.css playground/play.js
var playFiles embed.FS

// playPolicy also lets the page of the playground fetch and run its program.
var playPolicy = strings.Replace(site.Policy, "script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'", 1)

// compiledFiles are the files that compilePlay returns.
var compiledFiles = []string{"play.wasm", "wasm_exec.js"}

// policyOf returns the policy of a file of the site.
func policyOf(name string) string {
	if name == "play.html" {
		return playPolicy
	}
	return site.Policy
}

// compilePlay compiles the playground and returns it with Go's script for browsers. It
// needs the go command, and half a minute the first time.
func compilePlay(ctx context.Context) (map[string][]byte, error) {
	folder, err := os.MkdirTemp("", "handloom-play")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	program := filepath.Join(folder, "play.wasm")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "handloom/guide/playground")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the playground cannot be compiled: %w: %s", err, bytes.TrimSpace(out))
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	files := make(map[string][]byte)
	for name, file := range map[string]string{
		"play.wasm":    program,
		"wasm_exec.js": filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"),
	} {
		if files[name], err = os.ReadFile(file); err != nil {
			return nil, err
		}
	}
	return files, nil
}
