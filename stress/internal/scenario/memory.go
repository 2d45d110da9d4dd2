package scenario

import (
	"math"
	"runtime/metrics"
	"time"
)

// memory reads what the runtime says of heap and collector, without stopping the
// program.
type memory struct {
	samples []metrics.Sample
	first   collector
}

const (
	heapBytes = "/memory/classes/heap/objects:bytes"
	cycles    = "/gc/cycles/total:gc-cycles"
	pauses    = "/sched/pauses/total/gc:seconds"
)

// collector is how often the collector ran and how long it stopped the program.
type collector struct {
	cycles uint64
	pauses []uint64 // by bucket
}

func newMemory() *memory {
	m := &memory{}
	for _, name := range []string{heapBytes, cycles, pauses} {
		m.samples = append(m.samples, metrics.Sample{Name: name})
	}
	m.read()
	h := m.samples[2].Value.Float64Histogram()
	m.first = collector{m.samples[1].Value.Uint64(), append([]uint64(nil), h.Counts...)}
	return m
}

// read returns the bytes of heap objects, those the collector has not found dead
// yet included.
func (m *memory) read() int64 {
	metrics.Read(m.samples)
	return int64(m.samples[0].Value.Uint64())
}

// pauses returns how often the collector ran since newMemory, how often it
// stopped the program for that, and the p99 and the longest of the stops, each
// to the end of its bucket.
func (m *memory) pauses() (runs, stops int, p99, longest time.Duration) {
	m.read()
	h := m.samples[2].Value.Float64Histogram()
	for i, n := range h.Counts {
		stops += int(n - m.first.pauses[i])
	}
	seen := 0
	for i, n := range h.Counts {
		n -= m.first.pauses[i]
		if n == 0 {
			continue
		}
		end := h.Buckets[i+1]
		if math.IsInf(end, 1) {
			end = h.Buckets[i]
		}
		longest = time.Duration(end * float64(time.Second))
		if seen < (99*stops+99)/100 {
			p99 = longest
		}
		seen += int(n)
	}
	return int(m.samples[1].Value.Uint64() - m.first.cycles), stops, p99, longest
}
