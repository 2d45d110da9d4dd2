package tasks

import (
	"context"
	"math"
	"slices"
	"sync"
	"testing"
)

func TestWeights_DecideTheOrder(t *testing.T) {
	weights := []int64{2, 7, 3, 5, 7, 1}
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
			if want := []int{4, 3, 2, 0, 5}; err != nil || !slices.Equal(order, want) {
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

func TestEven_BoundIsAnEighth(t *testing.T) {
	ones := []int64{1, 1, 1, 1, 1, 1, 1, 1}
	if !even(ones, 1) || even(ones[1:], 1) || even(ones, 2) || even([]int64{2, 2, 2, 2, 2, 2, 2, 1}, 1) {
		t.Error("the bound is not an eighth")
	}
}
