package schedule

import (
	"context"
	"fmt"
	"testing"

	"handloom/tasks"
)

// BenchmarkSchedule measures a frame of ten systems that do nothing, in waves of
// one, two and five, on two workers.
func BenchmarkSchedule(b *testing.B) {
	for _, perWave := range []int{1, 2, 5} {
		var systems []System
		for i := range 10 {
			systems = append(systems, System{Name: fmt.Sprint(i), Writes: on(Resource(i % perWave)), Run: nothing})
		}
		s, err := numbered(systems...)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("op=schedule/systems=10/wave=%d/workers=2", perWave), func(b *testing.B) {
			b.ReportAllocs()
			_ = tasks.WithTeam(b.Context(), 2, func(ctx context.Context) error {
				for b.Loop() {
					_ = s.Run(ctx, Run{})
				}
				return nil
			})
		})
	}
}
