package world

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"handloom/internal/entrance"
	"handloom/internal/histogram"
	"handloom/tasks"
)

// Status is the state of a World, for packages expvar and log/slog.
type Status struct {
	Leader     bool          `json:"leader"`      // this World leads
	Waits      bool          `json:"waits"`       // for a handoff, see Options.Wait
	Term       uint32        `json:"term"`        // number of leaders so far
	TermAge    time.Duration `json:"term_age_ns"` // time since this World saw the term begin, or since Open
	LeaderID   string        `json:"leader_id"`   // ID of the last leader, a random number; "" before the first term
	Position   uint64        `json:"position"`    // position of the last applied record
	Tick       uint64        `json:"tick"`        // the last applied tick
	Unrecorded int           `json:"unrecorded"`  // ticks since that record, see Options.Idle
	Lag        time.Duration `json:"lag_ns"`      // time from that tick, by its leader's clock, to its end here
	Halted     string        `json:"halted,omitempty"`

	// ClockOff is the leader's clock minus Tick.Time. After a jump of the clock, Tick.Time
	// follows at 1.5 times normal speed, or at half of it. Time without a leader counts as a
	// jump: after 8 h without one, Tick.Time needs 16 h to reach the clock.
	ClockOff time.Duration `json:"clock_off_ns"`

	TickP50      time.Duration `json:"tick_p50_ns"` // duration of ticks, with Shadow
	TickP99      time.Duration `json:"tick_p99_ns"`
	TickMax      time.Duration `json:"tick_max_ns"`
	TicksDropped uint64        `json:"ticks_dropped"` // by Run, because ticks or appends took too long

	CallsWaiting int    `json:"calls_waiting"` // calls of Submit that have not returned
	CallsSealed  uint64 `json:"calls_sealed"`  // calls in ticks of this World
	CallsDropped uint64 `json:"calls_dropped"` // sealed calls that did not fit

	Appended        int           `json:"appended"`      // records of this World
	AppendP50       time.Duration `json:"append_p50_ns"` // append latency
	AppendP99       time.Duration `json:"append_p99_ns"`
	AppendMax       time.Duration `json:"append_max_ns"`
	Refused         uint64        `json:"refused"`                // failed attempts to append
	AppendErr       string        `json:"append_error,omitempty"` // the last one, until an append succeeds
	LostAppends     uint64        `json:"lost_appends"`           // records that lost to another leader
	ForeignMessages uint64        `json:"foreign_messages"`       // in the log, by others than worlds
	Cut             string        `json:"cut,omitempty"`          // torn records that Open of the log removed

	SavedTick    uint64        `json:"saved_tick"`           // tick of the newest snapshot; another World's may be later
	SavedAge     time.Duration `json:"saved_age_ns"`         // time since that save, or since Open
	SavedBytes   int64         `json:"saved_bytes"`          // size of the newest that this World wrote or read
	SaveTime     time.Duration `json:"save_ns"`              // duration of this World's last save
	SaveErr      string        `json:"save_error,omitempty"` // of the last save or trim, "" once both succeed
	BadSnapshots int           `json:"bad_snapshots"`        // unreadable snapshots
	LogRecords   uint64        `json:"log_records"`          // records since the newest snapshot
	LogBytes     uint64        `json:"log_bytes"`            // their size
	DiskBytes    int64         `json:"disk_bytes"`           // disk use of the log, 0 if unknown
}

type stats struct {
	termSeen     time.Time
	ticks        histogram.Histogram
	ticksDropped uint64
	callsSealed  uint64
	callsDropped uint64
	appends      histogram.Histogram
	refused      uint64
	appendErr    error
	lostAppends  uint64
	savedTick    uint64
	savedTotal   progress // total at its position
	total        progress
	saveTook     time.Duration
	savedBytes   int64
	savedAt      time.Time
	saveErr      error
	badSnapshots int
	damaged      []damagedSnapshot // found since the last save
	passedErr    error
	lag          time.Duration
	clockOff     time.Duration
}

// Status returns the status. It lists the folder of a journal. Any goroutine may call it.
func (w *World) Status() Status {
	s := w.status()
	s.describe(w.log)
	return s
}

// Entrance returns a part of the status, at the cost of a lock. It is for package cluster; programs
// cannot call it.
func (w *World) Entrance(entrance.Key) entrance.State {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	k := w.role.kind()
	return entrance.State{Leader: k == leading, Waits: k == waiting, ClockOff: w.stats.clockOff}
}

func (w *World) status() Status {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	f, h, k := &w.stats, &w.position, w.role.kind()
	since := f.total.since(f.savedTotal)
	s := Status{
		Leader: k == leading, Waits: k == waiting, Term: h.Term, TermAge: time.Since(f.termSeen), Position: h.at, Tick: h.tick, Unrecorded: int(h.Idle), Lag: f.lag, ClockOff: f.clockOff,
		TickP50: f.ticks.Quantile(0.5), TickP99: f.ticks.Quantile(0.99), TickMax: f.ticks.Max(), TicksDropped: f.ticksDropped,
		CallsWaiting: int(w.calls.Load()), CallsSealed: f.callsSealed, CallsDropped: f.callsDropped,
		Appended: f.appends.Len(), AppendP50: f.appends.Quantile(0.5), AppendP99: f.appends.Quantile(0.99), AppendMax: f.appends.Max(),
		Refused: f.refused, AppendErr: text(f.appendErr), LostAppends: f.lostAppends,
		SavedTick: f.savedTick, SavedAge: time.Since(f.savedAt), SavedBytes: f.savedBytes, SaveTime: f.saveTook, SaveErr: text(f.saveErr),
		BadSnapshots: f.badSnapshots, LogRecords: since.records, LogBytes: since.bytes,
	}
	if e, ends := w.role.(*ended); ends {
		s.Halted = text(e.err)
	}
	if h.Leader != 0 {
		s.LeaderID = fmt.Sprintf("%016x", h.Leader)
	}
	return s
}

// describe adds the figures of a log that has them.
func (s *Status) describe(l Log) {
	if o, ok := l.(observed); ok {
		l = o.Log
	}
	if c, ok := l.(tornLog); ok {
		s.Cut = c.CutText()
	}
	if c, ok := l.(foreignLog); ok {
		s.ForeignMessages = c.ForeignMessages()
	}
	if c, ok := l.(sizedLog); ok {
		s.DiskBytes, _ = c.DiskBytes()
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// String returns one line.
func (s Status) String() string {
	line := "follows"
	switch {
	case s.Leader:
		line = "leads"
	case s.Waits:
		line = "waits"
	}
	line += fmt.Sprintf(": term %d, tick %d, record %d, lag %v; appends p50 %v p99 %v max %v; snapshot of tick %d, %v ago",
		s.Term, s.Tick, s.Position, s.Lag, s.AppendP50, s.AppendP99, s.AppendMax, s.SavedTick, s.SavedAge.Round(time.Millisecond))
	if s.ClockOff != 0 {
		line += fmt.Sprintf("; the clock is %v off the time of ticks", s.ClockOff)
	}
	for _, trouble := range []string{s.Halted, s.AppendErr, s.SaveErr, s.Cut} {
		if trouble != "" {
			line += "; " + trouble
		}
	}
	return line
}

// LogValue returns the main values as a group.
func (s Status) LogValue() slog.Value {
	attrs := []slog.Attr{
		slog.Bool("leader", s.Leader), slog.Uint64("term", uint64(s.Term)), slog.Uint64("tick", s.Tick), slog.Uint64("position", s.Position),
		slog.Duration("lag", s.Lag), slog.Duration("append_p99", s.AppendP99), slog.Uint64("saved_tick", s.SavedTick), slog.Duration("saved_age", s.SavedAge),
	}
	for _, trouble := range [...]slog.Attr{slog.String("halted", s.Halted), slog.String("append_error", s.AppendErr), slog.String("save_error", s.SaveErr), slog.String("cut", s.Cut)} {
		if trouble.Value.String() != "" {
			attrs = append(attrs, trouble)
		}
	}
	return slog.GroupValue(attrs...)
}

func (w *World) note(change func(f *stats)) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	change(&w.stats)
}

func (w *World) noteAppend(took time.Duration, err error) {
	w.note(func(f *stats) {
		if f.appendErr = err; err != nil {
			f.refused++
			return
		}
		f.appends.Add(took)
	})
}

// noteTick notes a tick that ended after h.
func (w *World) noteTick(h *position, took time.Duration, sealed, dropped int) {
	lag := time.Since(time.Unix(0, h.Time))
	w.note(func(f *stats) {
		f.lag, f.total = lag, w.saver.total
		f.ticks.Add(took)
		f.callsSealed += uint64(sealed)
		f.callsDropped += uint64(dropped)
	})
}

// countDropped returns tick, which also notes the ticks that l drops.
func (w *World) countDropped(l *tasks.Loop, tick func(context.Context, uint64) error) func(context.Context, uint64) error {
	noted := uint64(0)
	return func(ctx context.Context, number uint64) error {
		if n := l.Dropped(); n > noted {
			w.note(func(f *stats) { f.ticksDropped += n - noted })
			noted = n
		}
		return tick(ctx, number)
	}
}

func (w *World) appendErr() (err error) {
	w.note(func(f *stats) { err = f.appendErr })
	return err
}

// noteSaved notes the newest snapshot; total is the progress at its position.
func (w *World) noteSaved(tick uint64, total progress) {
	w.note(func(f *stats) { f.savedTick, f.savedTotal, f.savedAt, f.saveErr = tick, total, time.Now(), nil })
}

// sinceSaved returns the progress since the newest snapshot.
func (w *World) sinceSaved() (p progress) {
	w.note(func(f *stats) { p = f.total.since(f.savedTotal) })
	return p
}

func (w *World) noteUnsaved(err error) {
	w.note(func(f *stats) { f.saveErr = err })
}

func (w *World) notePassed(at uint64, err error) {
	w.note(func(f *stats) {
		f.badSnapshots++
		f.passedErr = fmt.Errorf("snapshot of record %d: %w", at, err)
		if errors.Is(err, errDamaged) && f.damage(at) == nil {
			f.damaged = append(f.damaged, damagedSnapshot{at, err})
		}
	})
}

type damagedSnapshot struct {
	at  uint64
	err error
}

func (w *World) damage(at uint64) (err error) {
	w.note(func(f *stats) { err = f.damage(at) })
	return err
}

func (f *stats) damage(at uint64) error {
	for _, d := range f.damaged {
		if d.at == at {
			return d.err
		}
	}
	return nil
}
