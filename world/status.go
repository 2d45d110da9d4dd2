package world

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"handloom/internal/histogram"
)

// Status says how a World does. It is made for package expvar and for log/slog.
type Status struct {
	Leader   bool          `json:"leader"`
	Term     uint32        `json:"term"`     // how many owners the log has had
	Position uint64        `json:"position"` // position of the last record that was applied
	Tick     uint64        `json:"tick"`     // the last one that was applied
	Lag      time.Duration `json:"lag_ns"`   // from the time of that tick, by its owner's clock, to its end here
	Halted   string        `json:"halted,omitempty"`

	// ClockOff is how far the clock of this owner is ahead of Tick.Time, because the clock
	// has jumped; negative: behind it. Tick.Time follows at up to one and a half times the
	// speed of time, or at half of it. 0: Tick.Time is the clock.
	ClockOff time.Duration `json:"clock_off_ns"`

	Appended     int           `json:"appended"`      // records of this World
	AppendP50    time.Duration `json:"append_p50_ns"` // of those, how long the log took
	AppendP99    time.Duration `json:"append_p99_ns"`
	AppendMax    time.Duration `json:"append_max_ns"`
	Refused      uint64        `json:"refused"`                // times that the log did not take a record at once
	AppendErr    string        `json:"append_error,omitempty"` // why it did not the last time, if it has taken none since
	LostAppends  uint64        `json:"lost_appends"`           // records that came too late: another World owned the log
	SavedTick    uint64        `json:"saved_tick"`             // of the newest snapshot; that of another World is of this tick at least
	SavedAge     time.Duration `json:"saved_age_ns"`           // since it was saved, or the World opened
	SaveErr      string        `json:"save_error,omitempty"`   // why the one that was to follow was not
	BadSnapshots int           `json:"bad_snapshots"`          // snapshots that could not be read
	Cut          string        `json:"cut,omitempty"`          // records that Open of the log found torn and removed
}

// figures are what Status is made of.
type stats struct {
	appends      histogram.Histogram
	refused      uint64
	appendErr    error
	lostAppends  uint64
	savedTick    uint64
	savedAt      time.Time
	saveErr      error
	badSnapshots int
	damaged      []damagedSnapshot // that were found, until a snapshot is saved
	passedErr    error
	lag          time.Duration
	clockOff     time.Duration
}

// Status may be asked at any time.
func (w *World) Status() Status {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	f := &w.stats
	return Status{
		Leader: w.leads, Term: w.position.Term, Position: w.position.at, Tick: w.position.tick, Lag: f.lag, Halted: text(w.halted), ClockOff: f.clockOff,
		Appended: f.appends.Len(), AppendP50: f.appends.Quantile(0.5), AppendP99: f.appends.Quantile(0.99), AppendMax: f.appends.Max(),
		Refused: f.refused, AppendErr: text(f.appendErr), LostAppends: f.lostAppends,
		SavedTick: f.savedTick, SavedAge: time.Since(f.savedAt), SaveErr: text(f.saveErr), BadSnapshots: f.badSnapshots, Cut: cutText(w.log),
	}
}

func cutText(l Log) string {
	if c, ok := l.(cutter); ok {
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

// String returns a line.
func (s Status) String() string {
	line := "follows"
	if s.Leader {
		line = "owns"
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

// LogValue returns what matters as a group.
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

// noteAppend notes a try to append.
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
	w.stats.lag = lag
}

func (w *World) noteClock(off time.Duration) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.stats.clockOff = off
}

// appendErr returns why the log did not take the last record, or nil.
func (w *World) appendErr() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.stats.appendErr
}

// noteSaved notes that there is a snapshot of a tick.
func (w *World) noteSaved(tick uint64) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.stats.savedTick, w.stats.savedAt, w.stats.saveErr = tick, time.Now(), nil
}

func (w *World) noteUnsaved(err error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.stats.saveErr = err
}

// notePassed notes that a snapshot could not be read.
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

// A damagedSnapshot was found when a state was loaded.
type damagedSnapshot struct {
	at  uint64
	err error
}

// forgetDamage forgets the damaged snapshots, which the log has rejected or replaced.
func (w *World) forgetDamage() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.stats.damaged = nil
}

// damage returns the damage that was found in a snapshot, or nil.
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
