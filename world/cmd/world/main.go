// Command world shows and repairs the folder of a journal; see -h and guide/survive-a-kill.md.
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"handloom/internal/cli"
)

func main() { os.Exit(run(cli.Context(), os.Args[1:], os.Stdout, os.Stderr)) }

const (
	exitRefused = 2 // wrong usage, or not possible
	exitDamaged = 11
)

type command struct{ stdout io.Writer }

//go:embed help/*.txt
var helpTexts embed.FS

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (exit int) {
	p := &command{stdout}
	commands := map[string]func(context.Context, []string) (int, error){"info": p.info, "copy": p.copy, "repair": p.repair, "skip-input": p.skipInput}
	called := "world"
	err := misused(nil, "want a command")
	if len(args) > 0 {
		if do, ok := commands[args[0]]; ok {
			called += " " + args[0]
			exit, err = do(ctx, args[1:])
		} else {
			err = misused(nil, "got command %q, want info, copy, repair or skip-input", args[0])
			if _, flags := cli.ParseFlags(cli.NewFlags(), args); errors.Is(flags, flag.ErrHelp) {
				err = flags
			}
		}
	}
	switch {
	case err == nil:
		return exit
	case errors.Is(err, flag.ErrHelp):
		text, _ := helpTexts.ReadFile("help/" + called[strings.LastIndex(called, " ")+1:] + ".txt")
		_, _ = stdout.Write(text)
		return 0
	}
	text := called + ": " + strings.ReplaceAll(err.Error(), "\n", "; ")
	if errors.As(err, new(usageError)) {
		text += "; see: go run handloom/world/cmd/" + called + " -h"
	}
	fmt.Fprintln(stderr, text)
	return exitRefused
}

type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// misused returns err, or an error of the format if err is nil.
func misused(err error, format string, args ...any) error {
	if err == nil {
		err = fmt.Errorf(format, args...)
	}
	return usageError{err}
}

// dryRun ends the output of a command without -write.
func (p *command) dryRun() (exit int, err error) {
	fmt.Fprintln(p.stdout, "dry run: nothing has changed; end the program and repeat this with -write")
	return 0, nil
}
