package main

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkBank measures transfers over HTTP, each by a request of its own.
func BenchmarkBank(b *testing.B) {
	for _, clients := range []int{1, 8, 64} {
		b.Run(fmt.Sprint("clients=", clients), func(b *testing.B) {
			s := newServer(b)
			s.start()
			for n := range accounts {
				s.request("PUT", fmt.Sprint("/account/", n))
			}
			b.ResetTimer()
			took, sent, work := make([]time.Duration, b.N), new(atomic.Int64), new(sync.WaitGroup)
			for range clients {
				work.Go(func() {
					for n := int(sent.Add(1)) - 1; n < b.N; n = int(sent.Add(1)) - 1 {
						begun := time.Now()
						path := fmt.Sprintf("/transfer/%d?from=%d&to=%d&amount=1", n, n%accounts, (n+1)%accounts)
						if status, answer, err := s.once("PUT", path); status != 200 || err != nil {
							b.Errorf("%s: got %d %q, %v", path, status, answer, err)
						}
						took[n] = time.Since(begun)
					}
				})
			}
			work.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "transfers/s")
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			noError(b, s.child.End())
		})
	}
}
