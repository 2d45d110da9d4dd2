package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func wantRepaired(t *testing.T, d *crashDisk) {
	t.Helper()
	_, err := Open("", small(d))
	var damage *CorruptError
	if !errors.As(err, &damage) {
		t.Fatalf("Open: %v, want a CorruptError", err)
	}
	found, err := inspect(d, func(uint64, []byte) error { return nil })
	if err != nil || found.Damage == nil || found.Damage.Error() != damage.Error() {
		t.Fatalf("Inspect: %v, %v; want %v", found.Damage, err, damage)
	}
	if _, err := repair(context.Background(), d, damage.At); err != nil {
		t.Fatalf("repair of %v: %v", damage, err)
	}
	for range 2 {
		j := mustOpen(t, small(d))
		tail, _ := j.Tail(context.Background())
		if _, cut := j.truncated(); cut || tail+1 < damage.At {
			t.Fatalf("after a repair of %v: cut %v, %d records", damage, cut, tail)
		}
		var after uint64
		if saved, _ := j.Snapshots(context.Background()); len(saved) > 0 {
			after = saved[len(saved)-1]
		}
		wantAfter(t, j, after, int(tail-after))
		mustAppend(t, j, tail+1, tail+5)
		mustClose(t, j)
	}
}

func TestOpen_ShortFileIsCorrupt(t *testing.T) {
	d, segments, _ := fifty(t)
	for i, name := range segments {
		whole := d.files[name].bytes
		for n := range whole {
			if testing.Short() && n%31 != 0 {
				continue
			}
			short := d.clone()
			short.files[name] = short.newFile(whole[:n])
			_, err := Open("", small(short))
			var damage *CorruptError
			if last := i == len(segments)-1; err == nil && !last && allZero(whole[n:]) {
				continue // its units are whole, and the next segment follows them
			}
			if !errors.As(err, &damage) || damage.File != name {
				t.Fatalf("segment %d of %d with %d of %d bytes: %v", i+1, len(segments), n, len(whole), err)
			}
			wantRepaired(t, short)
		}
	}
}

func TestOpen_MissingFilesAreCorrupt(t *testing.T) {
	lose := func(d *crashDisk, from int, segments []string) *crashDisk {
		d = d.clone()
		for _, name := range segments[from:] {
			delete(d.files, name)
		}
		return d
	}
	d, segments, _ := fifty(t)
	for k := range segments {
		t.Run(fmt.Sprint("segments from ", k), func(t *testing.T) { wantRepaired(t, lose(d, k, segments)) })
		_, err := Open("", small(lose(d, k, segments[:k+1])))
		failIf(t, !errors.Is(err, ErrCorrupt), "without segment %d of %d: %v", k+1, len(segments), err)
		for snapshots, after := range map[string][]uint64{"genesis": {0}, "two": {10, 20}} {
			t.Run(fmt.Sprint("segments from ", k, ", snapshots ", snapshots), func(t *testing.T) {
				d := newCrashDisk()
				j := savedAt(t, d, after...)
				var segments []string
				for _, first := range j.segments {
					segments = append(segments, fileName(first, segmentExt))
				}
				mustClose(t, j)
				lost := lose(d, k, segments)
				if k == 0 {
					delete(lost.files, lockName) // the snapshots prove it
				}
				wantRepaired(t, lost)
			})
		}
	}
	torn := lose(d, len(segments)-1, segments)
	b := torn.files[segments[len(segments)-2]].bytes
	b[len(bytes.TrimRight(b, "\x00"))-1] ^= 1
	t.Run("last segment, and the one before is torn", func(t *testing.T) { wantRepaired(t, torn) })
}

func TestOpen_RejectedSnapshotIsATrace(t *testing.T) {
	d := newCrashDisk()
	d.files[fileName(7, rejectedExt)] = d.newFile(nil)
	wantError(t, errorOf(Open("", small(d))), ErrCorrupt)
}

func TestOpen_EmptyLockFileNamesNothing(t *testing.T) {
	d, _, _ := fifty(t)
	d.files[lockName] = d.newFile(nil)
	j := mustOpen(t, small(d))
	wantRecords(t, j, units)
	mustClose(t, j)
	newest, err := readNewest(d.files[lockName])
	failIf(t, newest == 0 || err != nil, "the lock file names %d, %v", newest, err)
}

func unitEnds(t *testing.T, d *crashDisk, segments []string) (ends []int64) {
	t.Helper()
	first := numbered(segments, segmentExt)
	c, err := openCursor(d, first[len(first)-1])
	for ends = append(ends, c.offset); err == nil; ends = append(ends, c.offset) {
		_, err = c.next()
	}
	return ends[:len(ends)-1]
}

// See doc.go for zeros.
func TestTruncated_CoversLostRecords(t *testing.T) {
	d, segments, end := fifty(t)
	name := segments[len(segments)-1]
	ends := unitEnds(t, d, segments)
	isEnd := func(at int) bool { // only zeros lie between at and the end of a unit
		return slices.ContainsFunc(ends, func(e int64) bool { return e >= int64(at) && allZero(d.files[name].bytes[at:e]) })
	}
	r := rand.New(rand.NewPCG(3, 4))
	garbage := make([]byte, minSegment)
	for i := range garbage {
		garbage[i] = byte(r.Uint64())
	}
	cuts := 0
	step := 1
	if testing.Short() {
		step = 7
	}
	for at := segmentHeaderSize; at < int(end); at += step {
		for kind, fill := range map[string][]byte{"zeros": make([]byte, minSegment), "garbage": garbage, "moved units": d.files[name].bytes[segmentHeaderSize:end]} {
			damaged := d.clone()
			b := damaged.files[name].bytes
			copy(b[at:], fill)
			j, err := Open("", small(damaged))
			if err != nil {
				wantRepaired(t, damaged)
				continue
			}
			tail, _ := j.Tail(context.Background())
			lost := units - tail
			cut, ok := j.truncated()
			switch {
			case !ok && lost > 0 && (kind != "zeros" || !isEnd(at)):
				t.Fatalf("%s from byte %d: %d records are lost in silence", kind, at, lost)
			case ok && cut.Records < lost && (kind == "garbage" || !strings.Contains(j.CutText(), "damage may hide more")):
				t.Fatalf("%s from byte %d: %d records are lost; %+v; %s", kind, at, lost, cut, j.CutText())
			case ok && (cut.At != tail+1 || cut.Offset >= cut.End || cut.NonZero == 0 || cut.NonZero > cut.End-cut.Offset || !slices.Contains(ends, cut.Offset)):
				t.Fatalf("%s from byte %d: %+v", kind, at, cut)
			}
			if ok {
				cuts++
			}
			mustClose(t, j)
		}
	}
	failIf(t, cuts == 0, "nothing is cut")
}

func wantTornTail(t *testing.T, j *Journal, want tornTail) {
	t.Helper()
	got, _ := j.truncated()
	equal(t, "torn tail", got, want)
}

func TestTruncated_HasRangeRecordsAndBytes(t *testing.T) {
	d := newCrashDisk()
	o := small(d)
	o.Sync = syncModes["every"]
	j := mustOpen(t, o)
	mustAppend(t, j, 1, 2)
	j.onTimer()
	start := j.end
	for range 3 {
		noError(t, errorOf(j.Append(context.Background(), j.accepted(), []byte("twelve bytes"))))
	}
	mustClose(t, j)
	b := d.files[fileName(1, segmentExt)].bytes
	unit := b[start : start+unitSize(3*16)]
	want := tornTail{File: fileName(1, segmentExt), At: 3, Records: 3, Offset: start, End: start + int64(len(unit))}

	// The lengths of the records are readable.
	unit[len(unit)-1] ^= 0xff
	want.NonZero = int64(len(unit) - bytes.Count(unit, []byte{0}))
	j = mustOpen(t, small(d.clone()))
	wantTornTail(t, j, want)
	mustClose(t, j)

	// 48 bytes have room for 4 records.
	clear(unit[:unitHeaderSize])
	want.NonZero = int64(len(unit) - bytes.Count(unit, []byte{0}))
	want.Records = 12
	j = mustOpen(t, small(d.clone()))
	wantTornTail(t, j, want)
	mustClose(t, j)
}

func TestOpen_BytesPastTheTornUnitAreDamage(t *testing.T) {
	d, segments, end := fifty(t)
	name := segments[len(segments)-1]
	ends := unitEnds(t, d, segments)
	start := ends[len(ends)-2]
	for past := end; past < int64(minSegment); past++ {
		damaged := d.clone()
		b := damaged.files[name].bytes
		b[end-1] ^= 1 // torn
		b[past] = 1
		if _, err := Open("", small(damaged)); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("byte %d past a torn unit that ends at %d: %v", past, end, err)
		}
	}
	damaged := d.clone()
	b := damaged.files[name].bytes
	clear(b[start : start+unitHeaderSize])
	h := appendUnit(nil, 0x5a17, link{seq: units}, make([]byte, 64))[:unitHeaderSize]
	copy(b[end:], h)
	wantError(t, errorOf(Open("", small(damaged))), ErrCorrupt)
}
