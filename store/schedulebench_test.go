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
		s, err := store.New(store.Options{Workers: 2})
		if err != nil {
			b.Fatal(err)
		}
		var tables []store.Resource
		for i := range perWave {
			table, err := store.Register(s, store.TableOptions[item]{Name: fmt.Sprint(i)})
			if err != nil {
				b.Fatal(err)
			}
			tables = append(tables, table)
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
		c, err := store.NewSchedule(s, systems...)
		if err != nil {
			b.Fatal(err)
		}
		frame := func(ctx context.Context) {
			if _, err := c.Run(ctx); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprintf("op=schedule/systems=10/wave=%d/workers=2/team=2/inside=none", perWave), func(b *testing.B) {
			b.ReportAllocs()
			_ = s.Team(b.Context(), func(ctx context.Context) error {
				for b.Loop() {
					frame(ctx)
				}
				return nil
			})
		})
		b.Run(fmt.Sprintf("op=schedule/systems=10/wave=%d/workers=2/team=2/inside=write", perWave), func(b *testing.B) {
			b.ReportAllocs()
			_ = s.Team(b.Context(), func(ctx context.Context) error {
				return s.Write(ctx, func(ctx context.Context, _ *store.Writer) error {
					for b.Loop() {
						frame(ctx)
					}
					return nil
				})
			})
		})
		b.Run(fmt.Sprintf("op=schedule/systems=10/wave=%d/workers=2/team=none/inside=none", perWave), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				frame(b.Context())
			}
		})
	}
}
