package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

const worldSnap = "../../../store/testdata/world.snap"

const seenInWorldSnap = `world.snap: 16,663 bytes, 11 blocks
epoch 4, digest 2629ecfa7d14ab0d

table  kind         typeIds  shards  rows  slots  bytes            schema
units  Table        1-3           3   171    177  6,226  ef83e3b0001c8d63
plans  StableTable  4-5           2   171    171  9,991  e2144f39e626714c

units struct{
    X int32
    Y int32
    Alive bool
    Plan struct{
        ID uint64
    }
}

plans struct{
    Name string
    Steps []int64
    Odds map[uint8]float64
}

verdict: whole (exit code 0): snapshots 1, files of records 0: all checksums and digests are right
`

func TestInfo_ShowsASnapshot(t *testing.T) {
	o := call(t, "info", worldSnap, "-schema")
	if o.code != 0 || o.stdout != seenInWorldSnap {
		t.Errorf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
	}
}

func TestInfo_FindsDamage(t *testing.T) {
	b := readFile(t, worldSnap)
	path := filepath.Join(t.TempDir(), "a.snap")
	for _, c := range []struct {
		b    []byte
		want string
	}{
		{b[:len(b)-1], "unexpected EOF"},
		{append(append([]byte{}, b...), 0), "1 bytes after the end, and it does not end as the snapshot of a world does"},
		{append(append([]byte{}, b[:9000]...), make([]byte, len(b)-9000)...), `table "plans", shard 0, block 6: the checksum differs`},
		{[]byte("handloom"), "no snapshot of Handloom"},
	} {
		writeFile(t, path, c.b)
		o := call(t, "info", path)
		o.want(t, 11, "verdict: damaged (exit code 11): a.snap: ")
		if !strings.Contains(o.lastLine(), c.want) {
			t.Errorf("got %s, want %q", o.lastLine(), c.want)
		}
	}
}

func record(t *testing.T, dir string, ticks int, open func()) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { // for the time
		ctx := context.Background()
		s := store.New(store.Options{})
		numbers := store.Register(s, store.TableOptions[int64]{Name: "numbers"})
		j, err := journal.Open(dir, journal.Options{})
		noError(t, err)
		tick := func(ctx context.Context, _ *store.Writer, t world.Tick) error {
			return s.Do(ctx, func(q store.Queue) { numbers.Emplace(q, int64(t.Number)) })
		}
		w, err := world.Open(ctx, s, j, world.Options{Version: "inspected", Hz: 60, Idle: 1, Tick: tick})
		noError(t, err)
		for range ticks {
			_, err := w.Step(ctx)
			noError(t, err)
		}
		open()
		noError(t, errors.Join(w.Close(ctx), j.Close()))
	})
}

// The words in capitals vary.
const seenInJournal = `records               first  last  units   used        of
0000000000000001.log      1     7      7  840 B  16.0 MiB

records 1 to 7, epoch 1, tick 6
terms 1 to 1, ticks 1 to 6, 0 B of input
program "inspected", 60 Hz, ARCH, GO; the last tick was 2000-01-01T00:00:00Z

0000000000000000.snap: 198 bytes, 3 blocks
epoch 0, digest 9d359619d883edba

table    kind   typeIds  shards  rows  slots  bytes            schema
numbers  Table  1-1           1     0      0     41  d6d03e9321b8735e

0000000000000007.snap: 303 bytes, 3 blocks
tag: record 7, tick 6, chain CHAIN, program "inspected"
epoch 6, digest 454eba9e94885689

table    kind   typeIds  shards  rows  slots  bytes            schema
numbers  Table  1-1           1     6      6    137  d6d03e9321b8735e

verdict: whole (exit code 0): snapshots 2, files of records 1: all checksums and digests are right
`

func TestInfo_ShowsAJournal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	record(t, dir, 6, func() {
		call(t, "info", dir).want(t, 0, "")
	})
	o := call(t, "info", dir)
	want := "^" + regexp.QuoteMeta(seenInJournal) + "$"
	for word, form := range map[string]string{"840 B": `\d+ B`, "ARCH": `\w+`, "GO": `go[^;]+`, "CHAIN": "[0-9a-f]{32}"} {
		want = strings.ReplaceAll(want, word, form)
	}
	if o.code != 0 || !regexp.MustCompile(want).MatchString(o.stdout) {
		t.Errorf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	log := filepath.Join(dir, "0000000000000001.log")
	b := readFile(t, log)
	b[100] ^= 1
	writeFile(t, log, b)
	call(t, "info", dir).want(t, 11, "\nverdict: damaged (exit code 11): journal: corrupt: 0000000000000001.log, record 1, byte 56: checksum differs\n")
}

func TestInfo_ShowsTheJournalOfANode(t *testing.T) {
	dir := t.TempDir()
	j, err := journal.Open(dir, journal.Options{})
	noError(t, err)
	_, err = j.Append(t.Context(), 0, []byte("HLM\x01 a message"))
	noError(t, err)
	noError(t, j.Save(t.Context(), 1, func(w io.Writer) error { _, err := io.WriteString(w, "a mark"); return err }))
	noError(t, j.Close())
	call(t, "info", dir).want(t, 0, "records 1 to 1, message of a cluster 1\n")
}

func TestInfo_ShowsFirstAndLastTerm(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	const terms, ticks = 3, 4
	for range terms {
		record(t, dir, ticks, func() {})
	}
	l, err := look(dir)
	noError(t, err)
	if r := l.Records; r.Terms != [2]uint32{1, terms} || r.Ticks != [2]uint64{1, terms * ticks} || r.Kinds["epoch"] != terms {
		t.Errorf("got records %+v, want terms 1 to %d with %d ticks each", r, terms, ticks)
	}
}

func TestInfo_CutOrTruncatedIsNotWhole(t *testing.T) {
	dir := t.TempDir()
	j, err := journal.Open(dir, journal.Options{SegmentBytes: 1 << 10})
	noError(t, err)
	for at := range uint64(5) {
		_, err := j.Append(context.Background(), at, []byte("record"))
		noError(t, err)
	}
	noError(t, j.Close())
	path := filepath.Join(dir, "0000000000000001.log")
	whole := readFile(t, path)
	// four units of 48 bytes follow the header of 56
	torn := bytes.Clone(whole)
	torn[56+4*48+40] ^= 0xff
	for _, c := range []struct {
		b    []byte
		code int
		want string
	}{
		{torn, 0, "verdict: cut (exit code 0): the last unit is not whole: record 5: at most 1 cut, damage may hide more: 0000000000000001.log, bytes 248 to "},
		{whole[:248], 11, "verdict: damaged (exit code 11): journal: corrupt: 0000000000000001.log, record 5, byte 248: file has 248 bytes, want 1024"},
		{whole[:600], 11, "verdict: damaged (exit code 11): journal: corrupt: 0000000000000001.log, record 6, byte 296: file has 600 bytes, want 1024"},
		{nil, 11, "verdict: damaged (exit code 11): journal: corrupt: 0000000000000001.log, record 1, byte 0: all segments are missing"},
		{whole, 0, "records 1 to 5, other 5\n"},
	} {
		if noError(t, os.Remove(path)); c.b != nil {
			writeFile(t, path, c.b)
		}
		call(t, "info", dir).want(t, c.code, c.want)
		writeFile(t, path, whole)
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
