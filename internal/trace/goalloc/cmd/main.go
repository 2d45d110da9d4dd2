// Command cmd makes a trace of the object lifetimes of a Go program.
//
//	GODEBUG=traceallocfree=1 go test -trace out.trace ./pkg
//	go tool trace -d=wire out.trace > out.wire
//	go tool trace -d=parsed out.trace |
//	    go run ./internal/trace/goalloc/cmd -types out.wire -max 120000 -o out.gz
//
// It reads the parsed text from a file or from standard input, writes the
// trace to -o, compressed if that ends in .gz, or to standard output, and
// prints a summary on standard error. On any fault it prints one line, exits
// with code 2 and leaves no file.
package main

import (
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
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

// job is one command line.
type job struct {
	types, out string
	options    goalloc.Options
}

func run(args []string) error {
	var j job
	flags := flag.NewFlagSet("cmd", flag.ContinueOnError)
	flags.StringVar(&j.types, "types", "", "text of go tool trace -d=wire, for the names of types")
	flags.StringVar(&j.out, "o", "", "trace to write, compressed if it ends in .gz (default: standard output)")
	flags.IntVar(&j.options.Tables, "tables", goalloc.DefaultTables, "most tables of the trace")
	flags.IntVar(&j.options.MaxEvents, "max", 0, "most events of the trace, cut at a tick (0: all)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch flags.NArg() {
	case 0:
		return j.convert(os.Stdin, "stdin")
	case 1:
		in, err := os.Open(flags.Arg(0))
		if err != nil {
			return err
		}
		defer in.Close()
		return j.convert(in, flags.Arg(0))
	}
	return errors.New("want one file or standard input")
}

func (j *job) convert(in io.Reader, name string) error {
	if err := j.readTypes(); err != nil {
		return err
	}
	if j.out == "" {
		return j.write(in, name, os.Stdout)
	}
	f, err := os.Create(j.out)
	if err != nil {
		return err
	}
	err = errors.Join(j.write(in, name, f), f.Close())
	if err != nil {
		os.Remove(j.out)
	}
	return err
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

func (j *job) write(in io.Reader, name string, out io.Writer) error {
	finish := func() error { return nil }
	if strings.HasSuffix(j.out, ".gz") {
		zip, err := gzip.NewWriterLevel(out, gzip.BestCompression)
		if err != nil {
			return err
		}
		out, finish = zip, zip.Close
	}
	sum, err := goalloc.Convert(in, name, out, j.options)
	if err == nil {
		err = finish()
	}
	if err != nil {
		return err
	}
	fmt.Fprint(os.Stderr, sum)
	return nil
}
