package store_test

import (
	"context"
	"fmt"
	"testing"

	"handloom/store"
)

// BenchmarkSchedule measures a frame of ten systems that do nothing, in waves of
// one, two and five, with an empty flush at the end, on two workers.
// inside=none lets readers in between waves; inside=write keeps them out. With
// team=none each frame starts its workers anew.
func BenchmarkSchedule(b *testing.B) {
	for _, perWave := range []int{1, 2, 5} {
		s, err := store.New(store.Options{Workers: 2}) // newStore has a time limit
		noError(b, err)
		var tables []store.Resource
		for i := range perWave {
			tables = append(tables, register(b, s, store.TableOptions[item]{Name: fmt.Sprint(i)}))
		}
		var systems []store.System
		for i := range 10 {
			systems = append(systems, store.System{
				Name: fmt.Sprint(i), Writes: tables[i%perWave : i%perWave+1], Emits: tables, Run: nothing,
			})
			if i > 0 {
				systems[i].Emits = nil // one flush, at the end
			}
		}
		c := newSchedule(b, s, systems...)
		frames := func(ctx context.Context, b *testing.B) error {
			for b.Loop() {
				if _, err := c.Run(ctx); err != nil {
					return err
				}
			}
			return nil
		}
		for around, run := range map[string]func(b *testing.B) error{
			"team=none/inside=none": func(b *testing.B) error { return frames(b.Context(), b) },
			"team=2/inside=none": func(b *testing.B) error {
				return s.Team(b.Context(), func(ctx context.Context) error { return frames(ctx, b) })
			},
			"team=2/inside=write": func(b *testing.B) error {
				return s.Team(b.Context(), func(ctx context.Context) error {
					return s.Write(ctx, func(ctx context.Context, _ *store.Writer) error { return frames(ctx, b) })
				})
			},
		} {
			b.Run(fmt.Sprintf("op=schedule/systems=10/wave=%d/workers=2/%s", perWave, around), func(b *testing.B) {
				b.ReportAllocs()
				noError(b, run(b))
			})
		}
	}
}
