package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestTheNormalDistributionIsNearWhatCountingSays(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 4 {
		a, b := make([]float64, 25+r.IntN(10)), make([]float64, 25)
		for i := range a {
			a[i] = math.Round(20 * r.NormFloat64()) // with ties
		}
		for i := range b {
			b[i] = math.Round(20*r.NormFloat64() + 8)
		}
		ranks, sum := rank(a, b)
		counted, near := exact(ranks, len(a), sum), normal(ranks, len(a), sum)
		if math.Abs(counted-near) > 0.005 {
			t.Errorf("%d and %d samples: %.4f by counting, %.4f by the normal distribution", len(a), len(b), counted, near)
		}
	}
}
