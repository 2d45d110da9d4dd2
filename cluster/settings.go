package cluster

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A settingsWatch knows whether somebody changed the settings of the stream.
type settingsWatch struct {
	mutex    sync.Mutex
	wrong    error
	at       time.Time // of the last comparison or its start
	created  time.Time // of the stream at the last comparison
	interval time.Duration

	closed    bool
	comparing sync.WaitGroup
}

// settingsTime is the time between comparisons of an appending Log. Others compare while they
// wait for records.
const settingsTime = 2 * time.Second

func (l *Log) settings() jetstream.StreamConfig { return logStream.settings(l.cell, l.o.Replicas) }

// info requests the stream's state and compares its settings.
func (l *Log) info(ctx context.Context) (*jetstream.StreamInfo, error) {
	info, err := repeat(ctx, firstAnswer, func(ctx context.Context) (*jetstream.StreamInfo, error) { return l.stream.Info(ctx) })
	if err == nil {
		w := &l.watch
		w.mutex.Lock()
		defer w.mutex.Unlock()
		w.wrong, w.at, w.created = checkSettings(l.settings(), info.Config), time.Now(), info.Created
	}
	return info, err
}

// wrongSettings returns [ErrSettings] if the last comparison found wrong ones and another does
// not find them restored. It starts a comparison now and then, and does not wait for it.
func (l *Log) wrongSettings(ctx context.Context) error {
	w := &l.watch
	wrong, due := w.look()
	switch {
	case wrong != nil:
		ctx, cancel := context.WithTimeout(ctx, requestTime)
		defer cancel()
		if _, err := l.info(ctx); err != nil {
			return errors.Join(wrong, err)
		}
		wrong, _ = w.look()
	case due:
		w.start(func() {
			ctx, cancel := context.WithTimeout(l.life, requestTime)
			defer cancel()
			_, _ = l.info(ctx)
		})
	}
	return wrong
}

// start starts a comparison, or a trim of the journal, unless the Log is closed.
func (w *settingsWatch) start(compare func()) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if !w.closed {
		w.comparing.Go(compare)
	}
}

// close waits for comparisons, which end with the life of the Log.
func (w *settingsWatch) close() {
	w.mutex.Lock()
	w.closed = true
	w.mutex.Unlock()
	w.comparing.Wait()
}

// look returns the result of the last comparison, and whether the next is due.
func (w *settingsWatch) look() (wrong error, due bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if due = time.Since(w.at) >= w.interval; due {
		w.at = time.Now()
	}
	return w.wrong, due
}

// stream returns the time at which the stream of the last comparison was created.
func (w *settingsWatch) stream() (created time.Time) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.created
}

func isWrongSettings(err error) bool { return errors.Is(err, ErrSettings) }

// mayDiffer are the settings that lose nothing. They are named as in the API of the servers.
var mayDiffer = []string{"name", "description", "placement", "compression", "first_seq", "mirror_direct", "consumer_limits", "metadata", "template_owner"}

// checkSettings returns an error that names each wrong setting, or nil.
func checkSettings(want, c jetstream.StreamConfig) error {
	var errs []error
	all, wanted := reflect.ValueOf(c), reflect.ValueOf(want)
	for i := range all.NumField() {
		name, _, _ := strings.Cut(all.Type().Field(i).Tag.Get("json"), ",")
		got, want := all.Field(i).Interface(), wanted.Field(i).Interface()
		if !slices.Contains(mayDiffer, name) && !reflect.DeepEqual(got, want) {
			errs = append(errs, fmt.Errorf("%s: got %v, want %v", name, got, want))
		}
	}
	if errs == nil {
		return nil
	}
	return fmt.Errorf("%w %s: %w", ErrSettings, c.Name, errors.Join(errs...))
}
