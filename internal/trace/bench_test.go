package trace_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"handloom/internal/trace"
)

// benchText has n events of 20 tables with keys of a real trace.
func benchText(n int) string {
	var b strings.Builder
	b.WriteString("handloom-trace 1\n")
	for i := range n {
		fmt.Fprintf(&b, "C %d %d\n", i%20, i*7919%20000)
	}
	return b.String()
}

func BenchmarkReader(b *testing.B) {
	const n = 100_000
	text := benchText(n)
	for _, input := range []struct{ name, text string }{{"plain", text}, {"gzip", zipped(b, text)}} {
		b.Run(fmt.Sprintf("op=read/input=%s/n=%d", input.name, n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				drain(b, input.text)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/event")
		})
	}
}

func drain(b *testing.B, text string) {
	r, err := trace.NewReader(strings.NewReader(text), "x")
	for err == nil {
		_, err = r.Next()
	}
	if !errors.Is(err, io.EOF) {
		b.Fatal(err)
	}
}
