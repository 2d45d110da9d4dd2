// Command cmd makes a trace of the object lifetimes of a Go program.
//
//	GODEBUG=traceallocfree=1 go test -trace out.trace ./pkg
//	go tool trace -d=wire out.trace > out.wire
//	go tool trace -d=parsed out.trace > out.parsed
//	go run ./internal/trace/goalloc/cmd -types out.wire -max 120000 -o out.gz out.parsed
//
// It reads the parsed text from a file or from standard input, writes the
// trace to -o, compressed if that ends in .gz, or to standard output, and
// prints a summary on standard error. On any fault it prints the reason, exits
// with code 2 and writes no trace.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"handloom/internal/trace/goalloc"
)

func main() {
	err := run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

// job is one command line.
type job struct {
	in, types, out string
	options        goalloc.Options
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	j, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if err := j.readTypes(); err != nil {
		return err
	}
	// In memory first, so that a fault leaves the file as it was.
	var text bytes.Buffer
	sum, err := j.convert(stdin, &text)
	if err != nil {
		return err
	}
	if err := j.write(text.Bytes(), stdout); err != nil {
		return err
	}
	_, err = fmt.Fprint(stderr, sum)
	return err
}

func parse(args []string, stderr io.Writer) (*job, error) {
	j := &job{}
	flags := flag.NewFlagSet("cmd", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is printed once, by main
	flags.StringVar(&j.types, "types", "", "text of go tool trace -d=wire, for the names of types")
	flags.StringVar(&j.out, "o", "", "trace to write, compressed if it ends in .gz (default: standard output)")
	flags.IntVar(&j.options.Tables, "tables", goalloc.DefaultTables, "most tables of the trace")
	flags.IntVar(&j.options.MaxEvents, "max", 0, "most events of the trace, cut at a tick (0: all)")
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		flags.SetOutput(stderr)
		flags.Usage()
	}
	if err != nil {
		return nil, err
	}
	if flags.NArg() > 1 {
		return nil, fmt.Errorf("want one file or standard input, not %d files", flags.NArg())
	}
	j.in = flags.Arg(0)
	return j, nil
}

func (j *job) readTypes() error {
	if j.types == "" {
		return nil
	}
	f, err := os.Open(j.types)
	if err != nil {
		return err
	}
	defer f.Close()
	j.options.Types, err = goalloc.ReadTypeNames(f, j.types)
	return err
}

// convert makes the trace, compressed if the output is to be.
func (j *job) convert(stdin io.Reader, out io.Writer) (goalloc.Summary, error) {
	in, name := stdin, "stdin"
	if j.in != "" {
		f, err := os.Open(j.in)
		if err != nil {
			return goalloc.Summary{}, err
		}
		defer f.Close()
		in, name = f, j.in
	}
	if !strings.HasSuffix(j.out, ".gz") {
		return goalloc.Convert(in, name, out, j.options)
	}
	zip, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return goalloc.Summary{}, err
	}
	sum, err := goalloc.Convert(in, name, zip, j.options)
	return sum, errors.Join(err, zip.Close())
}

func (j *job) write(text []byte, stdout io.Writer) error {
	if j.out != "" {
		return os.WriteFile(j.out, text, 0o644)
	}
	_, err := stdout.Write(text)
	return err
}
