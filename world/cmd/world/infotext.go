package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"handloom/internal/cli"
	"handloom/internal/image"
	"handloom/internal/report"
)

func (l *looked) writeTo(w io.Writer, schema bool) {
	if l.Records != nil {
		l.writeRecords(w)
	}
	for _, s := range l.Snapshot {
		s.writeTo(w, schema)
	}
	for _, d := range l.Damage {
		fmt.Fprintln(w, "damage:", d)
	}
	if l.Cut != "" {
		fmt.Fprintln(w, "cut: the last write did not end, or is in progress, or was damaged after it; Open clears it")
	}
	fmt.Fprintln(w, cli.NewVerdict(l.Verdict, l.ExitCode, l.Reason))
}

func (l *looked) writeRecords(w io.Writer) {
	table := report.NewTable("records", "first", "last", "units", "used", "of")
	table.Left("records")
	for _, s := range l.Segments {
		table.Row(s.File, grouped(s.First), grouped(s.Last), report.Count(s.Units), report.Bytes(s.Used), report.Bytes(s.Bytes))
	}
	table.WriteTo(w)
	r := l.Records
	fmt.Fprintf(w, "\nrecords %s to %s", grouped(r.First), grouped(r.Last))
	for _, kind := range slices.Sorted(maps.Keys(r.Kinds)) {
		fmt.Fprintf(w, ", %s %s", kind, report.Count(r.Kinds[kind]))
	}
	fmt.Fprintln(w)
	if s := r.Start; s.Arch != "" {
		fmt.Fprintf(w, "terms %d to %d, ticks %s to %s, %s of input\n", r.Terms[0], r.Terms[1], grouped(r.Ticks[0]), grouped(r.Ticks[1]), report.Bytes(int64(r.Input)))
		fmt.Fprintf(w, "program %q, %d Hz, %s, %s; the last tick was %s\n", s.Version, s.Hz, s.Arch, s.Go, r.LastTick.UTC().Format(time.RFC3339))
	}
	fmt.Fprintln(w)
}

func (s *lookedSnapshot) writeTo(w io.Writer, schema bool) {
	i := &s.Info
	fmt.Fprintf(w, "%s: %s bytes, %s blocks\n", s.File, grouped(s.Bytes), report.Count(i.Blocks))
	if i.Tag != (image.Tag{}) {
		fmt.Fprintf(w, "tag: record %s, tick %s, chain %x, program %q\n", grouped(i.Tag.At), grouped(i.Tag.Tick), i.Tag.Chain, i.Tag.Version)
	}
	if s.Fault == "" {
		fmt.Fprintf(w, "epoch %s, digest %016x\n", grouped(i.Epoch), i.Digest)
	}
	fmt.Fprintln(w)
	if len(i.Tables) == 0 {
		return
	}
	table := report.NewTable("table", "kind", "typeIds", "shards", "rows", "slots", "bytes", "schema")
	table.Left("table", "kind", "typeIds")
	for _, t := range i.Tables {
		kind := map[bool]string{false: "Table", true: "StableTable"}[t.Stable]
		table.Row(t.Name, kind, fmt.Sprintf("%d-%d", t.TypeID, t.TypeID+t.Shards-1), report.Count(t.Shards),
			report.Count(t.Rows), report.Count(t.Slots), grouped(t.Bytes), t.SchemaHash)
	}
	table.WriteTo(w)
	fmt.Fprintln(w)
	if !schema {
		return
	}
	for _, t := range i.Tables {
		fmt.Fprintf(w, "%s %s\n", t.Name, strings.ReplaceAll(t.Schema, "\t", "    "))
		for _, c := range t.Columns {
			fmt.Fprintf(w, "column %s.%s %s\n", t.Name, c.Name, strings.ReplaceAll(c.Schema, "\t", "    "))
		}
		fmt.Fprintln(w)
	}
}

func grouped[N uint64 | int64](n N) string { return report.Count(int(n)) }
