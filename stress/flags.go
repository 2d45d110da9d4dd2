package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"

	"handloom/store"
)

// settings are what the flags of a replay say.
type settings struct {
	file    string // "": the embedded trace, "-": standard input
	workers workerList
	shards  int
	outputs
}

// parseReplay reads the command line behind the command, which is "" or
// "replay".
func parseReplay(command string, args []string) (settings, error) {
	s := settings{workers: workerList{1, 2, 4, 8}, shards: 1}
	flags := newFlags()
	flags.Var(&s.workers, "workers", "")
	flags.IntVar(&s.shards, "shards", s.shards, "")
	flags.StringVar(&s.json, "json", "", "")
	flags.StringVar(&s.html, "html", "", "")
	files, err := parse(flags, args)
	switch {
	case err != nil:
		return s, err
	case command == "" && len(files) > 0:
		return s, fmt.Errorf("%q is too much; a trace is replayed by: replay %s", files[0], quote(files[0]))
	case command != "" && len(files) != 1:
		return s, fmt.Errorf("want one TRACE, not %d; the embedded trace is replayed without the command", len(files))
	case s.shards < 1 || s.shards > store.MaxShards:
		return s, fmt.Errorf("-shards is %d; want 1 to %d", s.shards, store.MaxShards)
	}
	if command != "" {
		s.file = files[0]
	}
	for _, f := range s.files() {
		if sameFile(f.name, s.file) {
			return s, fmt.Errorf("%s %s would overwrite the trace", f.flag, f.name)
		}
	}
	return s, s.check()
}

// command returns the command line that repeats a replay.
func (s settings) command() string {
	var b strings.Builder
	b.WriteString("go run ./stress")
	if s.file != "" {
		b.WriteString(" replay " + quote(s.file))
	}
	fmt.Fprintf(&b, " -workers %v -shards %d", &s.workers, s.shards)
	return b.String() + s.outputs.command()
}

// quote returns s as one word of a shell's command line.
func quote(s string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_./,+:@%", c)
	}
	if s != "" && strings.IndexFunc(s, func(c rune) bool { return !plain(c) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func newFlags() *flag.FlagSet {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is printed once, in one line
	return flags
}

// parse takes flags before, between and behind the other words, which it
// returns. Behind "--" there are no more flags.
func parse(flags *flag.FlagSet, args []string) (words []string, err error) {
	flags.VisitAll(func(f *flag.Flag) { f.Value = &once{Value: f.Value} })
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		rest := flags.Args()
		if n := len(args) - len(rest); n > 0 && args[n-1] == "--" {
			return append(words, rest...), nil
		}
		if len(rest) == 0 {
			return words, nil
		}
		words, args = append(words, rest[0]), rest[1:]
	}
}

// once is the value of a flag that may be given one time.
type once struct {
	flag.Value
	given bool
}

// IsBoolFlag reports whether the flag may stand without a value.
func (o *once) IsBoolFlag() bool {
	b, ok := o.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

func (o *once) Set(text string) error {
	if o.given {
		return errors.New("the flag is given twice")
	}
	o.given = true
	return o.Value.Set(text)
}

// workerList is a value like 1,2,8.
type workerList []int

const (
	maxWorkers = 1024
	maxPlayers = 32
)

func (l *workerList) Set(text string) error {
	var list workerList
	seen := make(map[int]bool)
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		switch {
		case err != nil:
			return fmt.Errorf("%q is not a number", word)
		case n < 1 || n > maxWorkers:
			return fmt.Errorf("%d workers; want 1 to %d", n, maxWorkers)
		case seen[n]:
			return fmt.Errorf("%d is named twice", n)
		}
		seen[n] = true
		list = append(list, n)
	}
	if len(list) > maxPlayers {
		return fmt.Errorf("%d numbers; want at most %d", len(list), maxPlayers)
	}
	*l = list
	return nil
}

func (l *workerList) String() string {
	words := make([]string, len(*l))
	for i, n := range *l {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ",")
}
