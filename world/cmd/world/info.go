package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"handloom/internal/cli"
	"handloom/internal/entrance"
	logentry "handloom/internal/entry"
	"handloom/internal/image"
	"handloom/journal"
	"handloom/store"
)

type looked struct {
	Path     string
	Verdict  string // whole, cut or damaged
	ExitCode int
	Reason   string
	Snapshot []lookedSnapshot // newest last
	Segments []entrance.Segment
	Cut      string // cut of the journal; "": none
	Records  *lookedRecords
	Damage   []string
}

type lookedSnapshot struct {
	File  string
	Bytes int64 // without the trailer of package world
	Info  image.Info
	Fault string // "": whole
}

type lookedRecords struct {
	First, Last uint64
	Kinds       map[string]int // number by kind
	Ticks       [2]uint64      // first and last
	Terms       [2]uint32      // first and last
	Input       int            // bytes
	LastTick    time.Time
	Start       logentry.TermStart // record of the last term start
}

// info shows a snapshot or journal without knowing the item types.
func (p *command) info(_ context.Context, args []string) (exit int, err error) {
	flags := cli.NewFlags()
	schema := flags.Bool("schema", false, "")
	words, err := cli.ParseFlags(flags, args)
	if err != nil || len(words) != 1 {
		return 0, misused(err, "want one FILE or DIR, got %d", len(words))
	}
	l, err := look(words[0])
	if err != nil {
		return 0, err
	}
	l.writeTo(p.stdout, *schema)
	return l.ExitCode, nil
}

// look inspects a file or folder. Damage is a finding, not an error.
func look(path string) (*looked, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	l := &looked{Path: path, Verdict: "whole"}
	if info.IsDir() {
		err = l.journal()
	} else {
		err = l.snapshot(path)
	}
	if err != nil {
		return nil, err
	}
	l.Reason = fmt.Sprintf("snapshots %d, files of records %d: all checksums and digests are right", len(l.Snapshot), len(l.Segments))
	if l.Cut != "" {
		l.Verdict, l.Reason = "cut", "the last unit is not whole: "+l.Cut
	}
	if len(l.Damage) > 0 {
		l.Verdict, l.ExitCode, l.Reason = "damaged", exitDamaged, l.Damage[0]
	}
	return l, nil
}

func (l *looked) snapshot(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return err
	}
	info, err := image.Inspect(f)
	s := lookedSnapshot{File: filepath.Base(path), Info: info, Bytes: stat.Size()}
	if err == nil {
		err = s.end(f)
	}
	if err != nil {
		if !errors.Is(err, store.ErrSnapshot) {
			return err
		}
		s.Fault = err.Error()
		l.Damage = append(l.Damage, s.File+": "+s.Fault)
	}
	l.Snapshot = append(l.Snapshot, s)
	return nil
}

func (s *lookedSnapshot) end(r io.Reader) error {
	b, err := io.ReadAll(r)
	if s.Bytes -= int64(len(b)); len(b) == 0 {
		return err
	}
	if err := new(logentry.Trailer).Decode(b); err != nil {
		return fmt.Errorf("%w: %d bytes after the end, and %w", store.ErrSnapshot, len(b), err)
	}
	return err
}

func (l *looked) journal() error {
	records := lookedRecords{Kinds: map[string]int{}}
	found, err := journal.Entrance(entrance.Key{}).Inspect(l.Path, records.add)
	if err != nil {
		return err
	}
	if len(found.Segments) == 0 && len(found.Snapshots) == 0 && found.Damage == nil {
		return fmt.Errorf("%s: there is no journal in it", l.Path)
	}
	l.Segments, l.Cut, l.Records = found.Segments, found.TornTail, &records
	if found.Damage != nil {
		l.Damage = append(l.Damage, found.Damage.Error())
	}
	if records.Kinds[nodeRecord] > 0 {
		return nil // the snapshots are marks for trims, see localReplica of package cluster
	}
	for _, at := range found.Snapshots {
		if err := l.snapshot(filepath.Join(l.Path, fmt.Sprintf("%016x.snap", at))); err != nil {
			return err
		}
	}
	return nil
}

const (
	otherRecord = "other"
	nodeRecord  = "message of a cluster" // in a journal of a node
)

func (r *lookedRecords) add(at uint64, rec []byte) error {
	if r.First == 0 {
		r.First = at
	}
	r.Last = at
	var info logentry.Record
	if err := info.Decode(rec); err != nil {
		kind := otherRecord
		if bytes.HasPrefix(rec, []byte("HLM")) {
			kind = nodeRecord
		}
		r.Kinds[kind]++
		return nil
	}
	r.Kinds[info.Kind.String()]++
	r.Input += len(info.Input)
	if r.Terms[0] == 0 {
		r.Terms[0] = info.Term
	}
	r.Terms[1] = info.Term
	switch info.Kind {
	case logentry.KindTermStart:
		r.Start = info.Start
	case logentry.KindTick:
		if r.Ticks[0] == 0 {
			r.Ticks[0] = info.Tick
		}
		r.Ticks[1], r.LastTick = info.Tick, time.Unix(0, info.Time)
	}
	return nil
}
