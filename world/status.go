package world

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"handloom/internal/histogram"
)

// Status is the state of a World, for packages expvar and log/slog.
type Status struct {
	Leader   bool          `json:"leader"`
	Waits    bool          `json:"waits"`    // for a handoff, see Options.Wait
	Term     uint32        `json:"term"`     // number of leaders so far
	Position uint64        `json:"position"` // position of the last applied record
	Tick     uint64        `json:"tick"`     // the last applied tick
	Lag      time.Duration `json:"lag_ns"`   // time from that tick, by its leader's clock, to its end here
	Halted   string        `json:"halted,omitempty"`

	// ClockOff is the leader's clock minus Tick.Time; after a jump of the clock, Tick.Time
	// follows at 1.5 times normal speed, or at half of it.
	ClockOff time.Duration `json:"clock_off_ns"`

	Appended     int           `json:"appended"`      // records of this World
	AppendP50    time.Duration `json:"append_p50_ns"` // append latency
	AppendP99    time.Duration `json:"append_p99_ns"`
	AppendMax    time.Duration `json:"append_max_ns"`
	Refused      uint64        `json:"refused"`                // failed attempts to append
	AppendErr    string        `json:"append_error,omitempty"` // the last one, until an append succeeds
	LostAppends  uint64        `json:"lost_appends"`           // records that lost to another leader
	SavedTick    uint64        `json:"saved_tick"`             // tick of the newest snapshot; another World's may be later
	SavedAge     time.Duration `json:"saved_age_ns"`           // time since that save, or since Open
	SaveErr      string        `json:"save_error,omitempty"`   // the last failed save, until one succeeds
	BadSnapshots int           `json:"bad_snapshots"`          // unreadable snapshots
	Cut          string        `json:"cut,omitempty"`          // torn records that Open of the log removed
}

type stats struct {
	appends      histogram.Histogram
	refused      uint64
	appendErr    error
	lostAppends  uint64
	savedTick    uint64
	savedTotal   progress // of the saver, there
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

// Status returns the status. Any goroutine may call it.
func (w *World) Status() Status {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	f := &w.stats
	return Status{
		Leader: w.leads, Waits: w.waits, Term: w.position.Term, Position: w.position.at, Tick: w.position.tick, Lag: f.lag, Halted: text(w.halted), ClockOff: f.clockOff,
		Appended: f.appends.Len(), AppendP50: f.appends.Quantile(0.5), AppendP99: f.appends.Quantile(0.99), AppendMax: f.appends.Max(),
		Refused: f.refused, AppendErr: text(f.appendErr), LostAppends: f.lostAppends,
		SavedTick: f.savedTick, SavedAge: time.Since(f.savedAt), SaveErr: text(f.saveErr), BadSnapshots: f.badSnapshots, Cut: cutText(w.log),
	}
}

func cutText(l Log) string {
	if c, ok := l.(tornLog); ok {
		return c.CutText()
	}
	return ""
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

func (w *World) noteAppend(took time.Duration, err error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	f := &w.stats
	if f.appendErr = err; err != nil {
		f.refused++
		return
	}
	f.appends.Add(took)
}

func (w *World) noteLostAppend() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.stats.lostAppends++
}

func (w *World) noteLag(h *position) {
	lag := time.Since(time.Unix(0, h.Time))
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.stats.lag, w.stats.total = lag, w.saver.total
}

func (w *World) noteClock(off time.Duration) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.stats.clockOff = off
}

func (w *World) appendErr() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.stats.appendErr
}

// noteSaved notes the newest snapshot; total is the progress at its position.
func (w *World) noteSaved(tick uint64, total progress) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	f := &w.stats
	f.savedTick, f.savedTotal, f.savedAt, f.saveErr = tick, total, time.Now(), nil
}

func (w *World) noteSave(took time.Duration, size int64) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.stats.saveTook, w.stats.savedBytes = took, size
}

func (w *World) noteProgress() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.stats.total = w.saver.total
}

// sinceSaved returns the progress since the newest snapshot.
func (w *World) sinceSaved() progress {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.stats.total.since(w.stats.savedTotal)
}

func (w *World) noteUnsaved(err error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.stats.saveErr = err
}

func (w *World) notePassed(at uint64, err error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	f := &w.stats
	f.badSnapshots++
	f.passedErr = fmt.Errorf("snapshot of record %d: %w", at, err)
	if errors.Is(err, errDamaged) {
		f.damaged = append(f.damaged, damagedSnapshot{at, err})
	}
}

type damagedSnapshot struct {
	at  uint64
	err error
}

func (w *World) forgetDamage() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.stats.damaged = nil
}

func (w *World) damage(at uint64) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, d := range w.stats.damaged {
		if d.at == at {
			return d.err
		}
	}
	return nil
}
