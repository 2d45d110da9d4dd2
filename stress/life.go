package main

import (
	"time"

	"handloom/internal/histogram"
)

// life is what a trace says about the objects of one table.
type life struct {
	created, updated, erased int
	peak, peakTick           int // most at the end of a tick, and the first such tick
	births, deaths           int // in this tick
	mostBirths, mostDeaths   int // in one tick

	// lived are the lives that have ended, in ticks, that of the birth included:
	// 1 is an object that did not see the end of its tick.
	lived *histogram.Histogram
}

// end notes that an object ends which has lived so many ticks.
func (l *life) end(ticks int) {
	if l.lived == nil {
		l.lived = new(histogram.Histogram)
	}
	l.deaths++
	l.lived.Add(time.Duration(ticks))
}

// tick ends a tick, with so many objects alive.
func (l *life) tick(number, live int) {
	l.created += l.births
	l.erased += l.deaths
	l.mostBirths, l.mostDeaths = max(l.mostBirths, l.births), max(l.mostDeaths, l.deaths)
	l.births, l.deaths = 0, 0
	if live > l.peak {
		l.peak, l.peakTick = live, number
	}
}

// ticks returns how many ticks a share q of the ended lives did not exceed.
func (l *life) ticks(q float64) int {
	if l.lived == nil {
		return 0
	}
	return int(l.lived.Quantile(q))
}

// age ends a tick for all tables.
func (m *model) age() {
	births, deaths := 0, 0
	for _, t := range m.tables {
		births += t.life.births
		deaths += t.life.deaths
		t.life.tick(m.tick, len(t.objects))
	}
	m.all.births, m.all.deaths = births, deaths
	m.all.tick(m.tick, m.len())
	m.course.add(births, deaths)
}

// course is how many objects began and ended in each of some runs of ticks, all
// of one length. There are never many: full, two runs become one.
type course struct {
	every int // ticks of a run
	ticks int
	runs  []span
}

type span struct{ births, deaths int }

const maxRuns = 256

func (c *course) add(births, deaths int) {
	if len(c.runs) == maxRuns && c.ticks == maxRuns*c.every {
		for i := range maxRuns / 2 {
			a, b := c.runs[2*i], c.runs[2*i+1]
			c.runs[i] = span{a.births + b.births, a.deaths + b.deaths}
		}
		c.runs = c.runs[:maxRuns/2]
		c.every *= 2
	}
	c.every = max(c.every, 1)
	if c.ticks%c.every == 0 {
		c.runs = append(c.runs, span{})
	}
	c.ticks++
	last := &c.runs[len(c.runs)-1]
	last.births += births
	last.deaths += deaths
}
