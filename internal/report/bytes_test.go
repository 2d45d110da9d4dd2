package report_test

import (
	"testing"

	"handloom/internal/report"
)

func TestBytes(t *testing.T) {
	tests := map[int64]string{
		0: "0 B", 1: "1 B", 1023: "1023 B", 1024: "1.00 KiB", 1536: "1.50 KiB", 1000 << 10: "1000 KiB", 1<<20 - 1: "1.00 MiB",
		25 << 20: "25.0 MiB", 300 << 20: "300 MiB", 3 << 30: "3.00 GiB", 1 << 50: "1.00 PiB",
	}
	for n, want := range tests {
		if got := report.Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q; want %q", n, got, want)
		}
	}
}
