package storeweb_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"handloom/store"
	"handloom/store/storeweb"
)

// BenchmarkTick measures ticks of a server with and without requests beside them:
// how long they take, the median and the slowest of 100, and how many took longer
// than a sixtieth of a second.
func BenchmarkTick(b *testing.B) {
	for _, perSecond := range []int{0, 100} {
		b.Run(fmt.Sprintf("requests=%d", perSecond), func(b *testing.B) { benchmarkTick(b, perSecond) })
	}
}

func benchmarkTick(b *testing.B, perSecond int) {
	f := newFleet(b, 200_000)
	h := storeweb.Handler(f.Store, f.frame)
	ctx, cancel := context.WithCancel(b.Context())
	answered := make(chan int)
	go func() { answered <- request(ctx, func(target string) { ask(h, "GET", target, asBrowser) }, perSecond) }()
	took := make([]time.Duration, 0, b.N)
	for b.Loop() {
		begin := time.Now()
		err := f.Write(ctx, func(ctx context.Context, _ *store.Writer) error {
			err := f.ships.ForEach(ctx, func(_ context.Context, c store.Chunk[ship]) error {
				for i := range c.Items {
					c.Items[i].Hull++
				}
				return nil
			})
			if err == nil {
				_, err = f.frame.Run(ctx)
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begin))
	}
	cancel()
	slices.Sort(took)
	late := len(took) - indexOf(took, time.Second/60)
	b.ReportMetric(float64(took[len(took)/2]), "p50-ns")
	b.ReportMetric(float64(took[len(took)*99/100]), "p99-ns")
	b.ReportMetric(float64(late), "late")
	b.ReportMetric(float64(<-answered), "requests")
}

func indexOf(sorted []time.Duration, d time.Duration) int {
	at, _ := slices.BinarySearch(sorted, d)
	return at
}

// request asks for one page after another, so many a second, until ctx ends.
func request(ctx context.Context, get func(target string), perSecond int) (answered int) {
	if perSecond == 0 {
		return 0
	}
	targets := []string{"/", "/?format=json", "/?table=ship&from=150000&count=100", "/?table=shot&from=20"}
	ticker := time.NewTicker(time.Second / time.Duration(perSecond))
	defer ticker.Stop()
	for ; ; answered++ {
		select {
		case <-ctx.Done():
			return answered
		case <-ticker.C:
			get(targets[answered%len(targets)])
		}
	}
}
