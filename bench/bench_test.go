package main

import (
	"runtime"
	"testing"

	"handloom/bench/internal/measure"
	"handloom/bench/internal/suite"
)

// BenchmarkHandloom runs the headline cases one after another, under the names
// that the program prints. The program runs them in turns instead, which is what
// makes them comparable.
func BenchmarkHandloom(b *testing.B) {
	for _, c := range (suite.Options{Workers: doublings(runtime.GOMAXPROCS(0)), Seed: 1}).Headline() {
		b.Run(c.Name(), func(b *testing.B) {
			w := c.Open()
			if w.Close != nil {
				defer w.Close()
			}
			if w.Measure != nil {
				benchmarkValue(b, w, c.Unit)
				return
			}
			if w.Within == nil {
				benchmark(b, w, c.Unit)
				return
			}
			w.Within(func() { benchmark(b, w, c.Unit) })
		})
	}
}

func benchmark(b *testing.B, w *measure.Work, unit measure.Unit) {
	for b.Loop() {
		if w.Prepare != nil {
			b.StopTimer()
			w.Prepare()
			b.StartTimer()
		}
		w.Body()
	}
	b.ReportMetric(unit.Of(float64(b.Elapsed().Nanoseconds()), b.N*max(w.Items, 1)), string(unit))
}

// benchmarkValue measures what is no time of a body.
func benchmarkValue(b *testing.B, w *measure.Work, unit measure.Unit) {
	sum := 0.0
	for b.Loop() {
		sum += w.Measure()
	}
	b.ReportMetric(sum/float64(b.N), string(unit))
}
