package world

import (
	"errors"
	"fmt"
	"time"

	"handloom/internal/entrance"
)

// Status has the figures of a World that its operator acts on, for packages expvar and log/slog.
// A program counts its ticks and calls itself, in Options.Applied.
type Status struct {
	Leader bool   `json:"leader"`           // this World leads; of Worlds that share a log, one does
	Waits  bool   `json:"waits"`            // for a handoff, see Options.Wait; call Handoff of the leader
	Term   uint32 `json:"term"`             // number of leaders so far; if it grows without a handoff, leaders die, pause or lose the log
	Halted string `json:"halted,omitempty"` // the error that ended this World; see guide/errors.md, then open it again

	Position   uint64        `json:"position"`   // position of the last applied record; if it stands, look at AppendErr
	Tick       uint64        `json:"tick"`       // the last applied tick
	Unrecorded int           `json:"unrecorded"` // ticks since that record, which a crash loses, see Options.Idle
	Lag        time.Duration `json:"lag_ns"`     // time from that Tick.Time to its end here; if it exceeds the leader's and grows, this World is too slow to take over

	// ClockOff is the leader's clock minus Tick.Time: set the clock if it was wrong. After a jump
	// of the clock, Tick.Time follows at 1.5 times normal speed, or at half of it. Time without a
	// leader counts as a jump, without Hz only time in which no World ran: after 8 h, Tick.Time
	// needs 16 h to reach the clock.
	ClockOff time.Duration `json:"clock_off_ns"`

	TickP99      time.Duration `json:"tick_p99_ns"`            // duration of ticks, with Shadow; above 1/Hz, Run drops ticks
	CallsWaiting int           `json:"calls_waiting"`          // calls of Submit that have not returned; if it grows, refuse clients
	AppendP99    time.Duration `json:"append_p99_ns"`          // latency of appends, a part of each Submit: of the disk or the network
	AppendErr    string        `json:"append_error,omitempty"` // error of the last append, until one succeeds; calls wait: repair the log
	Cut          string        `json:"cut,omitempty"`          // torn records that Open of the log removed, after a loss of power; see guide/losses.md

	SavedTick    uint64        `json:"saved_tick"`           // tick of the newest snapshot; another World's may be later
	SavedAge     time.Duration `json:"saved_age_ns"`         // time since that save, or since Open; a recovery runs the ticks after it
	SavedBytes   int64         `json:"saved_bytes"`          // size of the newest that this World wrote or read, for the size of disks
	SaveErr      string        `json:"save_error,omitempty"` // error of the last save or trim, "" once both succeed; the log grows: make room
	BadSnapshots int           `json:"bad_snapshots"`        // unreadable snapshots; if not 0, look at the disk, and take a backup
	DiskBytes    int64         `json:"disk_bytes"`           // disk use of the log, 0 if unknown
}

type stats struct {
	ticks        histogram
	appends      histogram
	appendErr    error
	savedTick    uint64
	savedTotal   progress // until its position
	savedBytes   int64
	savedAt      time.Time
	saveErr      error
	badSnapshots int
	damaged      map[uint64]error // snapshots by position, found since the last save
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
	s := Status{
		Leader: k == leading, Waits: k == waiting, Term: h.Term, Position: h.at, Tick: h.tick, Unrecorded: int(h.Idle), Lag: f.lag, ClockOff: f.clockOff,
		TickP99: f.ticks.quantile(0.99), CallsWaiting: int(w.calls.Load()), AppendP99: f.appends.quantile(0.99), AppendErr: text(f.appendErr),
		SavedTick: f.savedTick, SavedAge: time.Since(f.savedAt), SavedBytes: f.savedBytes, SaveErr: text(f.saveErr), BadSnapshots: f.badSnapshots,
	}
	if e, ends := w.role.(*ended); ends {
		s.Halted = text(e.err)
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
	line += fmt.Sprintf(": term %d, tick %d, record %d, lag %v; appends p99 %v; snapshot of tick %d, %v ago",
		s.Term, s.Tick, s.Position, s.Lag, s.AppendP99, s.SavedTick, s.SavedAge.Round(time.Millisecond))
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

func (w *World) note(change func(f *stats)) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	change(&w.stats)
}

func (w *World) noteAppend(took time.Duration, err error) {
	w.note(func(f *stats) {
		if f.appendErr = err; err == nil {
			f.appends.add(took)
		}
	})
}

// noteTick notes a tick that ended after h.
func (w *World) noteTick(h *position, took time.Duration) {
	lag := time.Since(time.Unix(0, h.Time))
	w.note(func(f *stats) {
		f.lag = lag
		f.ticks.add(took)
	})
}

func (w *World) appendErr() (err error) {
	w.note(func(f *stats) { err = f.appendErr })
	return err
}

// noteSaved notes the newest snapshot; total is the progress at its position.
func (w *World) noteSaved(tick uint64, total progress) {
	w.note(func(f *stats) { f.savedTick, f.savedTotal, f.savedAt, f.saveErr = tick, total, time.Now(), nil })
}

// sinceSaved returns the progress since the newest snapshot. The caller has the lock.
func (w *World) sinceSaved() (p progress) {
	w.note(func(f *stats) { p = w.saver.total.since(f.savedTotal) })
	return p
}

func (w *World) noteUnsaved(err error) {
	w.note(func(f *stats) { f.saveErr = err })
}

func (w *World) notePassed(at uint64, err error) {
	w.note(func(f *stats) {
		f.badSnapshots++
		f.passedErr = fmt.Errorf("snapshot of record %d: %w", at, err)
		if errors.Is(err, errDamaged) {
			f.damaged[at] = err
		}
	})
}

// damage returns the fault of a damaged snapshot, so that none is read twice to know it.
func (w *World) damage(at uint64) (err error) {
	w.note(func(f *stats) { err = f.damaged[at] })
	return err
}
