package store_test

import (
	"testing"

	"handloom/store"

	"pgregory.net/rapid"
)

// The programs run under one configuration against the model, and then under
// three others, whose outcomes must be equal.
func randomPrograms(t *testing.T, maxFrames int) {
	t.Helper()
	all := configs()
	rapid.Check(t, func(t *rapid.T) {
		p := drawProgram(maxFrames).Draw(t, "program")
		want := alone.run(t, store.Options{}, p.play)
		for _, c := range rapid.SliceOfN(rapid.SampledFrom(all), 3, 3).Draw(t, "configurations") {
			if difference := want.differs(c.run(t, store.Options{}, p.play)); difference != "" {
				t.Fatalf("%v: %s", c, difference)
			}
		}
	})
}

func TestRandomProgramsDoWhatTheModelDoes(t *testing.T) { randomPrograms(t, 8) }

func TestRandomProgramsDoWhatTheModelDoesWithNarrowFields(t *testing.T) {
	setWidths(t, 7, 16)
	randomPrograms(t, 30)
}
