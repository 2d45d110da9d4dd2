package suite_test

import (
	"testing"

	"handloom/bench/internal/suite"
)

// Tiny is every case with few items.
func tiny() suite.Options {
	return suite.Options{N: []int{100}, Workers: []int{1, 2}}
}

func TestEveryCaseRuns(t *testing.T) {
	for _, c := range tiny().All() {
		w := c.Open()
		for range 2 {
			if s := w.Sample(c.Unit, 0); s.Value < 0 || s.Bodies == 0 {
				t.Errorf("%s: a sample is %+v", c.Name(), s)
			}
		}
		if w.Close != nil {
			w.Close()
		}
	}
}
