package main

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Replays run one after another, independent of the comparison in a replay.
func TestDigest_EqualForAnyWorkers(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		text := generate(t, seed, 60)
		digests := make(map[int][]uint64)
		for _, workers := range []int{1, 2, 4, 8} {
			replayed(t, text, 1+int(seed%3), func(r *replay) {
				digests[workers] = append(digests[workers], r.players[0].digest)
			}, workers)
		}
		for workers, got := range digests {
			if diff := cmp.Diff(digests[1], got); diff != "" {
				t.Errorf("seed %d: digests of 1 worker and of %d (-, +):\n%s", seed, workers, diff)
			}
		}
		if len(digests[1]) < 60 || len(slices.Compact(digests[1])) < 30 {
			t.Errorf("seed %d: %d digests, which hardly change", seed, len(digests[1]))
		}
	}
}

func TestReplay_ShardsKeepTheLiveSet(t *testing.T) {
	seeds := uint64(4)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		text := generate(t, seed, 60)
		sets := make(map[int][]map[name]item)
		for _, shards := range []int{1, 3, 8} {
			replayed(t, text, shards, func(r *replay) {
				sets[shards] = append(sets[shards], r.players[0].items())
			}, 2)
		}
		for tick, want := range sets[1] {
			for _, shards := range []int{3, 8} {
				if got := sets[shards][tick]; !maps.Equal(got, want) {
					t.Fatalf("seed %d: after tick %d, items in 1 shard and in %d (-, +):\n%s", seed, tick+1, shards, cmp.Diff(want, got))
				}
			}
		}
	}
}

func TestModel_CountsCommandsByOutcome(t *testing.T) {
	const before = "C 0 2 C 0 3 T "
	tests := []struct {
		events string
		want   tally
	}{
		{"U 0 2", tally{put: 1}},
		{"U 0 2 U 0 2 U 0 2", tally{put: 1, superseded: 2}},
		{"E 0 2", tally{erased: 1}},
		{"U 0 2 U 0 2 E 0 2", tally{erased: 1, dropped: 2}},
		{"E 0 2 C 0 2", tally{erased: 1, created: 1}},
		{"U 0 2 E 0 2 C 0 2 U 0 2", tally{erased: 1, dropped: 1, created: 1, put: 1}},
		{"C 0 4 U 0 4 U 0 4", tally{created: 1, put: 1, superseded: 1}},
		{"C 0 4 U 0 4 E 0 4", tally{cancelledOut: 2, dropped: 1}},
		{"C 0 5 U 0 5 E 0 5", tally{cancelledOut: 2}}, // an update of an odd key is not a put
		{"C 0 5 U 0 5", tally{created: 1}},
		{"U 0 3", tally{put: 1}}, // unless the item is older
		{"C 0 4 E 0 4 C 0 4 E 0 4", tally{cancelledOut: 4}},
		{"E 0 2 C 0 2 E 0 2", tally{erased: 1, cancelledOut: 2}},
	}
	for _, tt := range tests {
		text := lines(before + tt.events + " T")
		r := replayed(t, text, 1, nil, 1, 3)
		if got := r.model.tables[0].want; got != tt.want {
			t.Errorf("%s: %+v; want %+v", tt.events, got, tt.want)
		}
	}
}
