package tasks_test

import (
	"context"
	"errors"
	"fmt"

	"handloom/tasks"
)

func ExampleRun() {
	squares := make([]int, 6)
	err := tasks.Run(context.Background(), len(squares), func(task int) error {
		if task == 2 || task == 4 {
			return fmt.Errorf("task %d: %w", task, errors.ErrUnsupported)
		}
		squares[task] = task * task // each task writes its own element
		return nil
	}, tasks.Options{})

	fmt.Println(squares) // an error does not stop the others
	fmt.Println(err)     // the error of the lowest task
	// Output:
	// [0 1 0 9 0 25]
	// task 2: unsupported operation
}

func ExampleWithTeam() {
	positions := []int{0, 10, 20, 30}
	err := tasks.WithTeam(context.Background(), 2, func(ctx context.Context) error {
		for range 100 { // ticks
			// The two workers spin between ticks.
			err := tasks.Run(ctx, len(positions), func(task int) error {
				positions[task]++
				return nil
			}, tasks.Options{})
			if err != nil {
				return err
			}
		}
		return nil
	})
	fmt.Println(positions, err)
	// Output: [100 110 120 130] <nil>
}
