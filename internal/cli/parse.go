package cli

import (
	"errors"
	"flag"
	"io"
)

// NewFlags returns flags whose errors the caller prints, in one line.
func NewFlags() *flag.FlagSet {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	return flags
}

// ParseFlags parses flags before, between and after other words, up to "--". It
// returns the words.
func ParseFlags(flags *flag.FlagSet, args []string) (words []string, err error) {
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

type once struct {
	flag.Value
	given bool
}

// IsBoolFlag reports whether the flag needs no value.
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
