package rights

import (
	"fmt"
	"strconv"

	"handloom/cluster/cells"
)

// ParseCell parses the cell of a command line: 16 hexadecimal digits, as of [cells.ID.String], or
// a decimal number without leading zeros.
func ParseCell(text string) (cells.ID, error) {
	if id, err := cells.ParseID(text); err == nil {
		return id, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n == 0 || strconv.FormatUint(n, 10) != text {
		return 0, fmt.Errorf("cell: got %q, want a number without leading zeros, or 16 lower-case hexadecimal digits", text)
	}
	return cells.ID(n), nil
}
