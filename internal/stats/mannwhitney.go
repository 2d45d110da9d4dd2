package stats

import (
	"math"
	"slices"
)

// exactly is up to how many samples in both sets together [MannWhitney] counts
// every case; beyond it takes the normal distribution.
const exactly = 60

// MannWhitney returns the chance that samples of one and the same distribution
// lie at least as far apart as a and b do, in either direction: small when one
// of them tends to be larger. It is 1 when either set is empty.
//
// It ranks all samples and looks at the sum of the ranks of a. Samples that are
// equal share the mean of their ranks. The chance is exact, ties included, for
// up to 60 samples together.
func MannWhitney(a, b []float64) float64 {
	ranks, sum := rank(a, b)
	if len(ranks) <= exactly {
		return exact(ranks, len(a), sum)
	}
	return normal(ranks, len(a), sum)
}

// rank returns twice the rank of every sample, so that the mean of two ranks is
// a whole number, in ascending order; and the sum of those of a.
func rank(a, b []float64) (ranks []int, sum int) {
	all := slices.Concat(a, b)
	slices.Sort(all)
	ranks = make([]int, len(all))
	of := make(map[float64]int, len(all))
	for i := 0; i < len(all); {
		end := i + 1
		for end < len(all) && all[end] == all[i] {
			end++
		}
		for j := i; j < end; j++ {
			ranks[j] = i + 1 + end // twice the mean of i+1 .. end
		}
		of[all[i]] = i + 1 + end
		i = end
	}
	for _, x := range a {
		sum += of[x]
	}
	return ranks, sum
}

// exact returns the share of all ways to choose n of the ranks whose sum is at
// least as far from the middle as the one found.
func exact(ranks []int, n, sum int) float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	// ways[k][s] is in how many ways k of the ranks seen so far add up to s.
	ways := make([][]float64, n+1)
	for k := range ways {
		ways[k] = make([]float64, total+1)
	}
	ways[0][0] = 1
	for i, r := range ranks {
		for k := min(i+1, n); k > 0; k-- {
			for s := r; s <= total; s++ {
				ways[k][s] += ways[k-1][s-r]
			}
		}
	}
	far, all := 0.0, 0.0
	for s, count := range ways[n] {
		all += count
		if distance(s, n, len(ranks), total) >= distance(sum, n, len(ranks), total) {
			far += count
		}
	}
	return far / all
}

// distance returns how far a sum of n ranks lies from what is expected, which is
// n of all parts of the total; all times as much, so that it is a whole number.
func distance(sum, n, all, total int) int {
	d := sum*all - n*total
	return max(d, -d)
}

// normal is exact for many samples, where the sum is nearly normal. It corrects
// for ties and for the sum being a whole number.
func normal(ranks []int, n, sum int) float64 {
	all := float64(len(ranks))
	mean := (all + 1) / 2
	var squares float64
	for _, r := range ranks {
		d := float64(r)/2 - mean
		squares += d * d
	}
	variance := float64(n) * (all - float64(n)) * squares / (all * (all - 1))
	if variance == 0 {
		return 1
	}
	d := math.Abs(float64(sum)/2-float64(n)*mean) - 0.5
	return math.Min(1, math.Erfc(d/math.Sqrt(2*variance)))
}
