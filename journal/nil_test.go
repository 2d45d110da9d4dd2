package journal_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handloom/journal"
	"handloom/proof/maptest"
)

func TestNil_IsNamed(t *testing.T) {
	ctx, none := context.Background(), context.Context(nil)
	dir := t.TempDir()
	j, err := journal.Open(dir, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for want, f := range map[string]func(){
		"journal: Append with a nil context": func() { _, _ = j.Append(none, 0, nil) },
		"journal: Read with a nil context":   func() { _ = j.Read(none, 0, func(uint64, []byte) error { return nil }) },
		"journal: Read with a nil function":  func() { _ = j.Read(ctx, 0, nil) },
		"journal: Save with a nil context":   func() { _ = j.Save(none, 0, func(io.Writer) error { return nil }) },
		"journal: Save with a nil function":  func() { _ = j.Save(ctx, 0, nil) },
		"journal: Reject with a nil context": func() { _ = j.Reject(none, 0) },
		"journal: Trim with a nil context":   func() { _ = j.Trim(none, 0) },
		"journal: Copy with a nil context":   func() { _ = journal.Copy(none, dir, dir) },
		"journal: Repair with a nil context": func() { _, _ = journal.Repair(none, dir, 1) },
	} {
		if got := maptest.PanicOf(f); got != want+"; give one" {
			t.Errorf("got panic %v, want %s; give one", got, want)
		}
	}
	if at, err := j.Append(ctx, 0, []byte("record")); at != 1 || err != nil {
		t.Errorf("Append afterwards: %d, %v", at, err)
	}
	if err := j.Close(); err != nil {
		t.Errorf("Close afterwards: %v", err)
	}
}

func TestMistakes_NameTheirFix(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "game.snap")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "log")
	j, err := journal.Open(log, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	open := func(dir string, o journal.Options) error { _, err := journal.Open(dir, o); return err }
	for want, err := range map[string]error{
		"journal: open " + file + ": a file, want a folder": open(file, journal.Options{}),
		"journal: the folder is open elsewhere: " + filepath.Join(log, "lock") + " is locked by this process; close that journal, or use another folder": open(log, journal.Options{}),
		"journal: SegmentBytes is 1, want at least 1024": open(filepath.Join(dir, "a"), journal.Options{SegmentBytes: 1}),
		"journal: Keep is -1, want at least 0":           open(filepath.Join(dir, "a"), journal.Options{Keep: -1}),
		"journal: Every(0s), want a positive duration":   open(filepath.Join(dir, "a"), journal.Options{Sync: journal.Every(time.Duration(0))}),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
