package stats_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"handloom/internal/stats"
)

func Example() {
	before := []float64{10.2, 10.4, 10.1, 10.3, 10.2, 10.9}
	after := []float64{9.1, 9.3, 9.0, 9.2, 9.6, 9.1}
	a, b := stats.Summarize(before), stats.Summarize(after)
	fmt.Printf("%.2f ± %.0f %%, now %.2f ± %.0f %%\n", a.Median, 100*a.Noise(), b.Median, 100*b.Noise())
	fmt.Println("apart:", stats.Apart(a, b))
	fmt.Printf("p = %.3f\n", stats.MannWhitney(before, after))
	// Output:
	// 10.25 ± 6 %, now 9.15 ± 5 %
	// apart: true
	// p = 0.002
}

func TestMedianIsInTheMiddle(t *testing.T) {
	for _, tt := range []struct {
		samples []float64
		want    float64
	}{
		{[]float64{3}, 3},
		{[]float64{9, 1, 2}, 2},
		{[]float64{4, 1, 2, 3}, 2.5},
		{[]float64{1e308, 1.5e308}, 1.25e308}, // whose sum is beyond a float64
	} {
		before := slices.Clone(tt.samples)
		if got := stats.Median(tt.samples); got != tt.want || stats.Summarize(tt.samples).Median != tt.want {
			t.Errorf("the median of %v is %v; want %v", tt.samples, got, tt.want)
		}
		if !slices.Equal(before, tt.samples) {
			t.Errorf("the samples have become %v", tt.samples)
		}
	}
}

// What the table of the sign test says: the k-th lowest and highest of n.
func TestIntervalIsThatOfTheSignTest(t *testing.T) {
	for n, k := range map[int]int{1: 0, 5: 0, 6: 1, 8: 1, 9: 2, 11: 2, 12: 3, 15: 4, 20: 6, 25: 8, 100: 40} {
		samples := make([]float64, n)
		for i := range samples {
			samples[i] = float64((i*7)%n + 1) // 1..n in another order, where 7 does not divide n
		}
		slices.Sort(samples)
		s := stats.Summarize(samples)
		low, high := math.Inf(-1), math.Inf(1)
		if k > 0 {
			low, high = samples[k-1], samples[n-k]
		}
		if s.Low != low || s.High != high || s.N != n {
			t.Errorf("of %d samples the interval is %v to %v; want the %d-th from both ends, %v to %v", n, s.Low, s.High, k, low, high)
		}
	}
}

func TestIntervalHoldsTheTrueMedianAsOftenAsItSays(t *testing.T) {
	const trials = 2000
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{6, 10, 17} {
		held := 0
		for range trials {
			samples := make([]float64, n)
			for i := range samples {
				samples[i] = r.ExpFloat64() // skewed, as times are; its median is ln 2
			}
			if s := stats.Summarize(samples); s.Low <= math.Ln2 && math.Ln2 <= s.High {
				held++
			}
		}
		if share := float64(held) / trials; share < stats.Confidence-0.015 {
			t.Errorf("of %d samples the interval holds the median in %.3f of the trials", n, share)
		}
	}
}

func TestNoise(t *testing.T) {
	for _, tt := range []struct {
		s    stats.Summary
		want float64
	}{
		{stats.Summary{Median: 10, Low: 9, High: 10.5}, 0.1},
		{stats.Summary{Median: 10, Low: 9.9, High: 12}, 0.2},
		{stats.Summary{}, 0},
		{stats.Summary{Median: -4, Low: -5, High: -4}, 0.25},
		{stats.Summarize([]float64{1, 2}), math.Inf(1)},
	} {
		if got := tt.s.Noise(); math.Abs(got-tt.want) > 1e-9 && got != tt.want {
			t.Errorf("the noise of %+v is %v; want %v", tt.s, got, tt.want)
		}
	}
}

func TestApartOnlyWhenNothingIsShared(t *testing.T) {
	a := stats.Summary{Low: 1, High: 2}
	for _, tt := range []struct {
		low, high float64
		want      bool
	}{{3, 4, true}, {2, 3, false}, {1.2, 1.5, false}, {0, 9, false}, {0, 1, false}, {0, 0.5, true}} {
		b := stats.Summary{Low: tt.low, High: tt.high}
		if stats.Apart(a, b) != tt.want || stats.Apart(b, a) != tt.want {
			t.Errorf("1 to 2 and %v to %v: apart is %v", tt.low, tt.high, !tt.want)
		}
	}
	if few := stats.Summarize([]float64{1}); stats.Apart(few, a) {
		t.Error("one sample is called apart from anything")
	}
}

// The model: every way to say which of the samples are a's.
func TestMannWhitneyCountsEveryCase(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		a, b := make([]float64, 1+r.IntN(5)), make([]float64, 1+r.IntN(5))
		for _, xs := range [][]float64{a, b} {
			for i := range xs {
				xs[i] = float64(r.IntN(6)) // ties are common
			}
		}
		got, want := stats.MannWhitney(a, b), everyCase(a, b)
		if math.Abs(got-want) > 1e-12 || math.Abs(got-stats.MannWhitney(b, a)) > 1e-12 {
			t.Fatalf("of %v and %v it is %v; want %v", a, b, got, want)
		}
	}
}

// everyCase compares each sample of a with each of b, for every choice of a.
func everyCase(a, b []float64) float64 {
	all := slices.Concat(a, b)
	statistic := func(chosen uint) float64 {
		u := 0.0
		for i, x := range all {
			for j, y := range all {
				if chosen>>i&1 == 1 && chosen>>j&1 == 0 {
					switch {
					case x > y:
						u++
					case x == y:
						u += 0.5
					}
				}
			}
		}
		return math.Abs(u - float64(len(a)*len(b))/2)
	}
	found := statistic(1<<len(a) - 1)
	far, cases := 0, 0
	for chosen := range uint(1) << len(all) {
		n := 0
		for i := range all {
			n += int(chosen >> i & 1)
		}
		if n == len(a) {
			cases++
			if statistic(chosen) >= found-1e-9 {
				far++
			}
		}
	}
	return float64(far) / float64(cases)
}

func TestMannWhitneyOfTheSame(t *testing.T) {
	for _, n := range []int{0, 1, 6, 40} {
		same := slices.Repeat([]float64{7}, n)
		if p := stats.MannWhitney(same, same); p != 1 {
			t.Errorf("of %d equal samples it is %v; want 1", n, p)
		}
	}
	low, high := []float64{1, 2, 3, 4, 5, 6}, []float64{7, 8, 9, 10, 11, 12}
	if p := stats.MannWhitney(low, high); math.Abs(p-2.0/924) > 1e-12 {
		t.Errorf("of 6 below 6 it is %v; want 2 of 924", p)
	}
}
