package feed

import (
	"errors"
	"runtime"
	"sync"
	"time"
)

// Sink is given every event, one at a time, in the order they were said. It may
// keep what an event points to and must not change it. A sink that fails says
// why from its Close and need not take more events.
type Sink interface {
	Event(Event)
	Close() error
}

// Feed stamps what is said and gives it to every sink. Its methods may be called
// from any goroutine. A nil Feed tells nobody.
type Feed struct {
	now   func() time.Time
	begun time.Time

	lock  sync.Mutex
	sinks []Sink
}

// New returns a feed whose time begins now.
func New(sinks ...Sink) *Feed { return newAt(time.Now, sinks...) }

func newAt(now func() time.Time, sinks ...Sink) *Feed {
	return &Feed{now: now, begun: now(), sinks: sinks}
}

// Start says what runs; the facts of the platform are filled in where empty.
func (f *Feed) Start(s Start) {
	if s.Go == "" {
		s.Go = runtime.Version()
	}
	if s.Platform == "" {
		s.Platform = runtime.GOOS + "/" + runtime.GOARCH
	}
	if s.GOMAXPROCS == 0 {
		s.GOMAXPROCS = runtime.GOMAXPROCS(0)
	}
	f.say(Event{Kind: KindStart, Start: &s})
}

// Progress says one line.
func (f *Feed) Progress(text string) {
	f.say(Event{Kind: KindProgress, Progress: &Progress{text}})
}

// Sample gives the figures of the interval that ends now. The caller must not
// change s.Shards afterwards.
func (f *Feed) Sample(s Sample) { f.say(Event{Kind: KindSample, Sample: &s}) }

// Failure says what is wrong.
func (f *Feed) Failure(x Failure) { f.say(Event{Kind: KindFailure, Failure: &x}) }

// Verdict says how the run ended.
func (f *Feed) Verdict(v Verdict) { f.say(Event{Kind: KindVerdict, Verdict: &v}) }

// Relay passes on what another feed said, a child process say, with its time.
func (f *Feed) Relay(e Event) { f.give(e) }

// Elapsed returns the time since the feed began; of a nil Feed, 0.
func (f *Feed) Elapsed() time.Duration {
	if f == nil {
		return 0
	}
	return f.now().Sub(f.begun)
}

func (f *Feed) say(e Event) {
	if f == nil {
		return
	}
	e.Version, e.Elapsed = Version, f.Elapsed()
	f.give(e)
}

func (f *Feed) give(e Event) {
	if f == nil {
		return
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	for _, s := range f.sinks {
		s.Event(e)
	}
}

// Close ends the sinks, first to last, and returns what failed in them.
func (f *Feed) Close() error {
	if f == nil {
		return nil
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	var errs []error
	for _, s := range f.sinks {
		errs = append(errs, s.Close())
	}
	f.sinks = nil
	return errors.Join(errs...)
}
