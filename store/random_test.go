package store_test

import (
	"testing"

	"handloom/store"

	"pgregory.net/rapid"
)

// The programs run under one configuration against the model, and then under
// three others, whose outcomes must be equal.
func randomPrograms(t *testing.T, minFrames, maxFrames int, prepare func(t *rapid.T)) {
	t.Helper()
	all := configs()
	rapid.Check(t, func(t *rapid.T) {
		prepare(t)
		p := drawProgram(minFrames, maxFrames).Draw(t, "program")
		want := alone.run(t, store.Options{}, p.play)
		for _, c := range rapid.SliceOfN(rapid.SampledFrom(all), 3, 3).Draw(t, "configurations") {
			if difference := want.differs(c.run(t, store.Options{}, p.play)); difference != "" {
				t.Fatalf("%v: %s", c, difference)
			}
		}
	})
}

func TestRandomProgramsDoWhatTheModelDoes(t *testing.T) {
	randomPrograms(t, 1, 8, func(*rapid.T) {})
}

func TestRandomProgramsDoWhatTheModelDoesWithNarrowFields(t *testing.T) {
	randomPrograms(t, 4, 12, func(t *rapid.T) {
		setWidths(t, rapid.SampledFrom([]uint16{1, 2, 3, 7}).Draw(t, "last generation"), 16)
	})
}
