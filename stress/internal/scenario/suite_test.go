package scenario

import (
	"testing"

	"handloom/stress/internal/feed"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// small returns a scenario that has everything and takes a few milliseconds.
func small() *Scenario {
	return &Scenario{
		Name: "small", Ticks: 40, Readers: 2, // more than one refresh
		Tables: []Table{
			{Name: "a", Items: 3000, Bytes: 64, Shards: 4, Creates: 100, Erases: 100, Puts: 200, Links: 50, Skew: 0.7, Inbox: 20},
			{Name: "b", Items: 500, MaxItems: 600, Bytes: 32, Shards: 1, Creates: 30, Erases: 10},
			{Name: "c", Items: 200, Bytes: 256, Shards: 2, Stable: true, Creates: 20, Erases: 20, Puts: 10, Inbox: 5},
			{Name: "d", Items: 40, Bytes: 1024, Shards: 1},
		},
		Passes: []Pass{{"a", 3, true}, {"c", 1, false}, {"a", 2, false}},
	}
}

// load returns a scenario of the program with fewer items and ticks.
func load(t *testing.T, name string) *Scenario {
	t.Helper()
	s, err := Load(name)
	if err != nil {
		t.Fatal(err)
	}
	s.Hz, s.Ticks = 0, 5
	for i := range s.Tables {
		s.Tables[i].Items /= 20
		s.Tables[i].Creates /= 20
		s.Tables[i].Links /= 20
		s.Tables[i].Erases /= 20
		s.Tables[i].Puts /= 20
	}
	return s
}

// passed runs a scenario, which has to pass. How many ticks are late is the
// machine's to say, and has to be in the verdict.
func passed(t *testing.T, s *Scenario, o Options) *Result {
	t.Helper()
	r := s.Run(t.Context(), o)
	want := "passed"
	if r.Late > 0 {
		want = feed.Late
	}
	if r.Verdict.Verdict != want || r.Verdict.ExitCode != 0 || r.Ticks != s.Ticks || r.Digest == 0 {
		t.Fatalf("%s with %+v: %+v", s.Name, o, r.Verdict)
	}
	return r
}
