package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"

	"handloom/internal/cli"
)

func main() { os.Exit(run(os.Args[1:], ".", os.Stdout, os.Stderr)) }

const usage = `Usage: go run ./internal/release -module PATH -version VERSION -out DIR

  -module PATH      module path of the root, such as example.org/handloom
  -version VERSION  version of both modules, v0.x.y or v1.x.y
  -out DIR          new or empty folder for the tree
`

// run writes the release of the repository in root and returns the exit code.
func run(args []string, root string, stdout, stderr io.Writer) int {
	var r release
	flags := cli.NewFlags()
	flags.StringVar(&r.module, "module", "", "")
	flags.StringVar(&r.version, "version", "", "")
	flags.StringVar(&r.out, "out", "", "")
	words, err := cli.ParseFlags(flags, args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, usage)
		return 0
	}
	if err == nil && len(words) > 0 {
		err = fmt.Errorf("got %q, want flags alone", words)
	}
	if err == nil {
		err = r.check()
	}
	files := 0
	if err == nil {
		files, err = r.write(root)
	}
	if err != nil {
		fmt.Fprintf(stderr, "release: %v; see: go run ./internal/release -h\n", err)
		return 2
	}
	fmt.Fprintf(stdout, "%d files in %s. Commit them, then set the tags:\n\ngit tag %s\ngit tag cluster/%[3]s\n", files, r.out, r.version)
	return 0
}

type release struct{ module, version, out string }

var (
	modulePath = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)+(/[A-Za-z0-9_~-]+(\.[A-Za-z0-9_~-]+)*)+$`)
	versions   = regexp.MustCompile(`^v[01]\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)
)

func (r *release) check() error {
	if !modulePath.MatchString(r.module) {
		return fmt.Errorf("-module: got %q, want a path that begins with a domain, such as example.org/handloom", r.module)
	}
	if !versions.MatchString(r.version) {
		return fmt.Errorf("-version: got %q, want v0.x.y or v1.x.y", r.version)
	}
	if r.out == "" {
		return errors.New("-out: got nothing, want a new or empty folder")
	}
	if names, err := os.ReadDir(r.out); err == nil && len(names) > 0 {
		return fmt.Errorf("-out: %s has files, want a new or empty folder", r.out)
	}
	return nil
}
