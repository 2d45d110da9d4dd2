package world

import "context"

// saveAside saves a snapshot while ticks continue, before a handoff. If that fails, nothing has
// happened. It also rejects damaged snapshots, so the save after the term, a pause, need not.
func (w *World) saveAside(ctx context.Context, to string) (err error) {
	if to == w.o.Version || !w.isShared() {
		return nil
	}
	if err := w.lockRunning(ctx); err != nil {
		return err
	}
	for w.is(leading) && w.saver.save.runs() {
		running := w.saver.save
		w.unlock() // waiting with the lock would be a pause
		_ = running.wait(ctx)
		if err := w.lockRunning(ctx); err != nil {
			return err
		}
	}
	var j *job
	if w.is(leading) { // else handOff has the reason
		err = w.recordIdle(ctx, w.digestPart) // the snapshot of a tick that another leader may run again is useless
		if err == nil {
			j, err = w.saveAfter(ctx, w.save)
		}
	}
	w.unlock()
	if err != nil {
		return err
	}
	return j.wait(ctx)
}
