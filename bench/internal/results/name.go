package results

import (
	"fmt"
	"strconv"
	"strings"

	"handloom/bench/internal/measure"
)

// parseName is the inverse of [measure.Case.Name].
func parseName(name string) (c measure.Case, err error) {
	for part := range strings.SplitSeq(name, "/") {
		key, value, ok := strings.Cut(part, "=")
		if !ok {
			return c, fmt.Errorf("%q in the name %q is no key=value", part, name)
		}
		switch key {
		case "op":
			c.Op = value
		case "impl":
			c.Impl = value
		case "n":
			c.N, err = strconv.Atoi(value)
		case "size":
			c.Size, err = strconv.Atoi(value)
		case "workers":
			c.Workers, err = strconv.Atoi(value)
		default:
			err = fmt.Errorf("%q is no part of a name", key)
		}
		if err != nil {
			return c, fmt.Errorf("in the name %q: %w", name, err)
		}
	}
	if c.Name() != name {
		return c, fmt.Errorf("the name %q is not in order; want %q", name, c.Name())
	}
	return c, nil
}
