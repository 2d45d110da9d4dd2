package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"handloom/internal/cli"
	"handloom/internal/trace"
)

// importing is one command line of import.
type importing struct {
	in, out string
	options trace.ConvertOptions
}

// importTrace is the command "import": it makes a trace in memory and writes it
// when all is read, so that a fault leaves the output as it was.
func (p *command) importTrace(ctx context.Context, args []string) int {
	const command = "import"
	job, err := parseImport(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return p.help([]string{command})
	case err != nil:
		return p.misused(command, err)
	}
	if job.out != "-" {
		if err := cli.CheckFile(job.out); err != nil {
			return p.failed(command, err)
		}
	}
	var text bytes.Buffer
	sum, err := job.convert(ctx, p, &text)
	if err == nil && ctx.Err() == nil {
		err = p.write(job.out, text.Bytes())
	}
	switch {
	case ctx.Err() != nil:
		fmt.Fprintf(p.stderr, "stress import: interrupted; %s is as it was\n", job.out)
		return cli.Exit(ctx)
	case err != nil:
		return p.failed(command, err)
	}
	fmt.Fprint(p.stderr, sum)
	return 0
}

func parseImport(args []string) (importing, error) {
	j := importing{}
	flags := newFlags()
	flags.StringVar(&j.out, "o", "", "")
	flags.IntVar(&j.options.Tables, "tables", trace.DefaultTables, "")
	flags.IntVar(&j.options.MaxEvents, "max", 0, "")
	words, err := parse(flags, args)
	switch {
	case err != nil:
		return j, err
	case len(words) == 0 || words[0] != "goalloc":
		return j, fmt.Errorf("want the kind of FILE before it: goalloc")
	case len(words) != 2:
		return j, fmt.Errorf("want one FILE after goalloc, not %d", len(words)-1)
	case j.out == "":
		return j, errors.New("want -o OUT, the trace to write")
	case j.options.Tables < 2 || j.options.Tables > trace.MaxTable+1:
		return j, fmt.Errorf("-tables is %d; want 2 to %d", j.options.Tables, trace.MaxTable+1)
	case j.options.MaxEvents < 0:
		return j, fmt.Errorf("-max is %d; want 0 or more", j.options.MaxEvents)
	}
	j.in = words[1]
	if j.out != "-" && sameFile(j.out, j.in) {
		return j, fmt.Errorf("-o %s would overwrite what it is made from", j.out)
	}
	return j, nil
}

// convert makes the trace, compressed if the output is to be.
func (j *importing) convert(ctx context.Context, p *command, out io.Writer) (sum trace.Summary, err error) {
	src, err := p.open(j.in)
	if err != nil {
		return sum, err
	}
	defer src.Close()
	var zip *gzip.Writer
	if strings.HasSuffix(j.out, ".gz") {
		if zip, err = gzip.NewWriterLevel(out, gzip.BestCompression); err != nil {
			return sum, err
		}
		out = zip
	}
	sum, err = trace.Convert(untilEnd{ctx, src}, out, j.options)
	if zip != nil {
		err = errors.Join(err, zip.Close())
	}
	if err != nil {
		return sum, fmt.Errorf("%s: %w", src.name, err)
	}
	return sum, nil
}

// untilEnd is a reader that fails once its context has ended.
type untilEnd struct {
	ctx context.Context
	io.Reader
}

func (r untilEnd) Read(b []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(b)
}
