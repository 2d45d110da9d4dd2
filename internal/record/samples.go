package record

import (
	"slices"

	"handloom/batch"
)

// MaxSamples is how many stale commands a report keeps.
const MaxSamples = 8

// KeepLowest sorts samples and cuts them to the lowest [MaxSamples].
func KeepLowest(samples []batch.Sample) []batch.Sample {
	slices.SortFunc(samples, batch.Sample.Compare)
	return samples[:min(len(samples), MaxSamples)]
}
