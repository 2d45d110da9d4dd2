package rights_test

import (
	"testing"

	"handloom/cluster/cells"
	"handloom/cluster/internal/rights"
)

func TestParseCell_HasOneMeaning(t *testing.T) {
	for text, want := range map[string]cells.ID{
		"8": 8, "10": 10, "0000000000000010": 16, "00000000000000ff": 255, "18446744073709551615": 1<<64 - 1,
		"": 0, "0": 0, "010": 0, "0x10": 0, "1_0": 0, "+8": 0, " 8": 0, "ff": 0, "00000000000000FF": 0,
		"0000000000000000": 0, "00000000000000010": 0, "18446744073709551616": 0,
	} {
		if got, err := rights.ParseCell(text); got != want || (err == nil) != (want != 0) {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
	}
}
