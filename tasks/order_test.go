package tasks

import (
	"context"
	"math"
	"slices"
	"sync"
	"testing"
)

func TestWeights_DecideTheOrder(t *testing.T) {
	weights := []int64{5, 7, 7, 2, 3, 1}
	for i := range weights {
		weights[i] *= inlineBelow
	}
	check := func(ctx context.Context, _ *team) {
		for range 100 {
			var order []int
			var rest sync.WaitGroup
			rest.Add(len(weights) - 1)
			err := Run(ctx, len(weights), func(task int) error {
				if task == 1 {
					rest.Wait()
					return nil
				}
				order = append(order, task)
				rest.Done()
				return nil
			}, Options{Workers: 2, Weights: weights})
			if want := []int{2, 0, 4, 3, 5}; err != nil || !slices.Equal(order, want) {
				t.Fatalf("order %v, want %v; error %v", order, want, err)
			}
		}
	}
	check(t.Context(), nil)
	inTeam(t, 2, check)
}

func TestWeights_LightWorkRunsInline(t *testing.T) {
	inTeam(t, 2, func(ctx context.Context, team *team) {
		var order []int // no lock: one goroutine
		err := Run(ctx, 4, func(task int) error {
			if team.busy.Load() {
				t.Error("the team takes part")
			}
			order = append(order, task)
			return nil
		}, Options{Weights: []int64{1, 2, 3, 4}})
		if want := []int{0, 1, 2, 3}; err != nil || !slices.Equal(order, want) {
			t.Errorf("order %v, want %v; error %v", order, want, err)
		}
	})
}

func TestLight_Threshold(t *testing.T) {
	for _, c := range []struct {
		weights []int64
		want    bool
	}{
		{nil, false},
		{[]int64{}, true},
		{[]int64{0, 0}, true},
		{[]int64{inlineBelow - 1}, true},
		{[]int64{inlineBelow}, false},
		{[]int64{inlineBelow / 2, inlineBelow / 2}, false},
		{[]int64{inlineBelow / 2, inlineBelow/2 - 1}, true},
		{[]int64{-inlineBelow, inlineBelow}, false},
		{[]int64{math.MinInt64, 1}, true},
		{[]int64{1, math.MaxInt64, math.MaxInt64}, false},
	} {
		if got := light(c.weights, inlineBelow); got != c.want {
			t.Errorf("light(%v) = %v", c.weights, got)
		}
	}
}

func TestWeights_EvenTasksAreNotOrdered(t *testing.T) {
	var p phase
	weights := make([]int64, 64)
	for i := range weights {
		weights[i] = int64(1 + i%3)
	}
	p.begin(work{n: len(weights), weights: weights}, 2)
	if len(p.order) > 0 || len(p.spans) != 2 {
		t.Errorf("64 tasks of 1 to 3 have the order %v, and %d spans", p.order, len(p.spans))
	}
	p.end()
	weights[40] = 100
	p.begin(work{n: len(weights), weights: weights}, 2)
	if p.order[0] != 40 {
		t.Errorf("the heavy task is not the first of %v", p.order)
	}
	p.end()
	p.begin(work{n: 2, weights: []int64{math.MaxInt64, math.MinInt64}}, 2)
	if p.order[0] != 0 {
		t.Errorf("order %v", p.order)
	}
}

func TestEven_BoundsAreEighths(t *testing.T) {
	for _, c := range []struct {
		name    string
		weights []int64
		want    bool
	}{
		{"an eighth of a share", append(make([]int64, 16), 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), true},
		{"equal spans", []int64{4, 4, 4, 4}, true},
		{"span of 9 eighths", []int64{4, 5, 6, 1}, true},
		{"longer span", []int64{4, 5, 3, 3}, false},
		{"negative weights count as zero", []int64{4, -8, 2, 2}, true},
	} {
		if got := even(c.weights, 2); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
