package history

import (
	"context"
	"fmt"
	"strings"

	"handloom/internal/cli"
)

// diff compares two programs on a log.
func (c *command) diff(ctx context.Context, args []string) (exit int, err error) {
	flags := cli.NewFlags()
	old, next := flags.String("old", "", ""), flags.String("new", "", "")
	from, to, every := flags.Uint64("from", 0, ""), flags.Uint64("to", 0, ""), flags.Uint64("every", 1, "")
	ignore := flags.String("ignore", "", "")
	words, err := parse(flags, args, "DIR")
	if err != nil {
		return 0, err
	}
	for _, program := range [][2]string{{"-old", *old}, {"-new", *next}} {
		if program[1] == "" {
			return 0, misused("%s: got none, want a program made with history.Main", program[0])
		}
	}
	o := DiffOptions{From: *from, To: *to, Every: *every}
	if *ignore != "" {
		o.Ignore = strings.Split(*ignore, ",")
	}
	d, err := Diff(ctx, words[0], *old, *next, o)
	if err != nil {
		return 0, err
	}
	return c.writeDifference(d, &o)
}

func (c *command) writeDifference(d *Difference, o *DiffOptions) (exit int, err error) {
	programs := fmt.Sprintf("old %q, new %q", d.Old.Version, d.New.Version)
	text, sides, _ := strings.Cut(d.String(), "\n")
	if d.Kind != "" {
		fmt.Fprintln(c.stdout, d)
		return c.verdict("differs", exitFound, "%s, in tick %d", programs, d.Tick)
	}
	if d.Old.Err != nil {
		fmt.Fprintf(c.stdout, "tick %d fails in both programs:\n%s\n", d.To+1, sides)
	}
	if d.Every > 1 {
		fmt.Fprintln(c.stdout, "  limits: a difference that ends between two of these states is not seen; -every 1 sees it")
	}
	if len(o.Ignore) > 0 {
		fmt.Fprintln(c.stdout, "  limits: not compared:", strings.Join(o.Ignore, ", "))
	}
	return c.verdict("equal", 0, "%s: %s", programs, text)
}
