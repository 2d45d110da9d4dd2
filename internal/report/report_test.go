package report_test

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"handloom/internal/report"
)

func Example() {
	t := report.NewTable("workers", "events", "events/s", "flush p50")
	t.Row("1", report.Count(117889), report.Rate(117889, 36*time.Millisecond), report.Duration(41200*time.Nanosecond))
	t.Row("16", report.Count(889), report.Rate(889, time.Second), report.Duration(870))
	t.WriteTo(os.Stdout)
	// Output:
	// workers   events  events/s  flush p50
	//       1  117,889   3.27M/s    41.2 us
	//      16      889     889/s     870 ns
}

func TestCount(t *testing.T) {
	tests := map[int]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 123456: "123,456", 1234567: "1,234,567",
		-5: "-5", -999: "-999", -1000: "-1,000", 1<<31 - 1: "2,147,483,647",
	}
	for n, want := range tests {
		if got := report.Count(n); got != want {
			t.Errorf("Count(%d) = %q; want %q", n, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	tests := map[time.Duration]string{
		0: "0 ns", 999: "999 ns", 1000: "1.00 us", 1234: "1.23 us", 41 * time.Microsecond: "41.0 us",
		12345: "12.3 us", 999_499: "999 us", 999_999: "1.00 ms", 75 * time.Second: "75.0 s", 61700 * time.Millisecond: "61.7 s",
		2 * time.Hour: "7200 s",
	}
	for d, want := range tests {
		if got := report.Duration(d); got != want {
			t.Errorf("Duration(%d) = %q; want %q", d, got, want)
		}
	}
}

func TestRate(t *testing.T) {
	tests := []struct {
		n    int
		d    time.Duration
		want string
	}{
		{5, 0, "-"},
		{0, time.Second, "0/s"},
		{870, time.Second, "870/s"},
		{3_200_000, time.Second, "3.20M/s"},
		{999_900, time.Second, "1.00M/s"},
		{1, 3 * time.Second, "0.33/s"},
		{12_345, time.Second, "12.3k/s"},
	}
	for _, tt := range tests {
		if got := report.Rate(tt.n, tt.d); got != tt.want {
			t.Errorf("Rate(%d, %v) = %q; want %q", tt.n, tt.d, got, tt.want)
		}
	}
}

func TestDigits(t *testing.T) {
	tests := map[float64]string{0: "0.00", 0.284: "0.28", 9.999: "10.0", 99.94: "99.9", 999.4: "999", 999.6: "1,000", 1234567.8: "1,234,568"}
	for v, want := range tests {
		if got := report.Digits(v); got != want {
			t.Errorf("Digits(%v) = %q; want %q", v, got, want)
		}
	}
}

func TestShare(t *testing.T) {
	tests := map[float64]string{0: "0 %", 0.014: "1 %", 1.5: "150 %", math.Inf(1): "?"}
	for v, want := range tests {
		if got := report.Share(v); got != want {
			t.Errorf("Share(%v) = %q; want %q", v, got, want)
		}
	}
	if got := report.Share(math.NaN()); got != "?" {
		t.Errorf("of no number it is %q", got)
	}
}

func TestTable_Left(t *testing.T) {
	table := report.NewTable("name", "n", "why")
	table.Left("name", "why")
	table.Row("a", "10", "x")
	table.Row("bcdef", "1", "")
	var b strings.Builder
	table.WriteTo(&b)
	if want := "name    n  why\na      10  x\nbcdef   1\n"; b.String() != want {
		t.Errorf("the table is\n%swant\n%s", b.String(), want)
	}
}

func TestTable_BeyondASCII(t *testing.T) {
	table := report.NewTable("a", "name")
	table.Row("10", "wörter")
	table.Row("1", "x")
	var b strings.Builder
	n, err := table.WriteTo(&b)
	want := " a    name\n10  wörter\n 1       x\n"
	if b.String() != want || err != nil || n != int64(len(want)) {
		t.Errorf("the table is\n%swant\n%s(%d, %v)", b.String(), want, n, err)
	}
}

func TestRow_WrongLengthPanics(t *testing.T) {
	defer func() {
		if got, want := recover(), "report: a row of 1 cells in a table of 2 columns"; got != want {
			t.Errorf("it panicked with %v; want %v", got, want)
		}
	}()
	report.NewTable("a", "b").Row("1")
}
