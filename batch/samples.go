package batch

import (
	"slices"
)

// MaxSamples is the number of stale commands that a report keeps.
const MaxSamples = 8

// KeepLowest sorts samples and cuts them to the lowest [MaxSamples].
func KeepLowest(samples []Sample) []Sample {
	slices.SortFunc(samples, Sample.compare)
	return samples[:min(len(samples), MaxSamples)]
}
