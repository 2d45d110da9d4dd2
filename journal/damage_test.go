package journal

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
)

// fifty returns a disk with a journal of fifty records, its segments, and the end
// of the last unit in the last of them.
func fifty(t *testing.T) (d *crashDisk, segments []string, end int64) {
	d = newCrashDisk()
	j := mustOpen(t, small(d))
	mustAppend(t, j, 1, units)
	end = j.end
	for _, first := range j.segments {
		segments = append(segments, fileName(first, segmentExt))
	}
	mustClose(t, j)
	return d, segments, end
}

// outcomes counts what Open and Read made of damaged bytes.
type outcomes struct{ refused, cut, whole int }

// open opens a damaged journal. It is refused, or its last record is cut, or the
// damage is where nothing is.
func (o *outcomes) open(t *testing.T, d *crashDisk) {
	t.Helper()
	j, err := Open("", small(d))
	if err != nil {
		var at *CorruptError
		if !errors.As(err, &at) || at.File == "" || at.At == 0 || at.At > units {
			t.Fatalf("refused with %v", err)
		}
		o.refused++
		return
	}
	want := units
	switch cut, ok := j.WasCut(); {
	case ok && cut.At == units:
		want--
		o.cut++
	case ok && cut.At != units+1:
		t.Fatalf("cut at record %d", cut.At)
	default:
		o.whole++
	}
	wantRecords(t, j, want)
	mustClose(t, j)
}

// TestEveryFlip flips every bit of every segment.
func TestEveryFlip(t *testing.T) {
	d, segments, end := fifty(t)
	var o outcomes
	flips := 0
	for i, name := range segments {
		n := len(d.files[name].bytes)
		if i == len(segments)-1 {
			n = int(end) + 64
		}
		for at := range n {
			for bit := range 8 {
				if testing.Short() && bit != at%8 {
					continue
				}
				flips++
				damaged := d.clone()
				damaged.files[name].bytes[at] ^= 1 << bit
				o.open(t, damaged)
			}
		}
	}
	t.Logf("%d flips: %d refused, %d cut, %d where nothing is", flips, o.refused, o.cut, o.whole)
	last := int(unitSize(4 + len(record(units))))
	if !testing.Short() && o.cut > 8*(last+64) {
		t.Errorf("%d flips cut a record; the last has %d bits", o.cut, 8*last)
	}
	if o.refused == 0 || o.cut == 0 {
		t.Errorf("%+v", o)
	}
}

// TestEveryTear ends the last unit at every byte, with zeros or ones behind.
func TestEveryTear(t *testing.T) {
	d, segments, end := fifty(t)
	last := segments[len(segments)-1]
	start := end - unitSize(4+len(record(units)))
	size := int(end - start)
	for at := range size {
		for _, behind := range [][]byte{make([]byte, size), bytes.Repeat([]byte{255}, size)} {
			torn := d.clone()
			b := torn.files[last].bytes
			copy(b[int(start)+at:end], behind[:size-at])
			want := units - 1
			if slices.Equal(b, d.files[last].bytes) {
				want = units
			}
			j := mustOpen(t, small(torn))
			wantRecords(t, j, want)
			mustClose(t, j)
		}
	}
}

// TestAUnitOfAnotherPlaceIsDamage puts whole units where others belong: of the
// same journal, an older one first, and of another one.
func TestAUnitOfAnotherPlaceIsDamage(t *testing.T) {
	d, segments, _ := fifty(t)
	first := d.files[segments[0]].bytes
	unit2 := segmentHead + int(unitSize(4+len(record(1))))
	size2 := int(unitSize(4 + len(record(2))))
	other := newCrashDisk()
	o := small(other)
	o.salt++
	j := mustOpen(t, o)
	mustAppend(t, j, 1, 3)
	mustClose(t, j)
	for name, from := range map[string][]byte{"another journal": other.files[segments[0]].bytes, "a later segment": d.files[segments[1]].bytes} {
		damaged := d.clone()
		copy(damaged.files[segments[0]].bytes[unit2:], from[unit2:][:size2])
		if _, err := Open("", small(damaged)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("a unit of %s: %v", name, err)
		}
	}
	swapped := d.clone()
	b := swapped.files[segments[0]].bytes
	copy(b[segmentHead:], slices.Concat(first[unit2:unit2+size2], first[segmentHead:unit2]))
	if _, err := Open("", small(swapped)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("two units that changed places: %v", err)
	}
	// The same in the last segment, which no other one follows.
	last := d.clone()
	b = last.files[segments[len(segments)-1]].bytes
	size := binary.LittleEndian.Uint32(b[segmentHead:])
	next := segmentHead + int(unitSize(size))
	end := next + int(unitSize(binary.LittleEndian.Uint32(b[next:])))
	copy(b[segmentHead:], slices.Concat(b[next:end], b[segmentHead:next]))
	if _, err := Open("", small(last)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("two units at the end that changed places: %v", err)
	}
	// Segments that changed their names.
	renamed := d.clone()
	renamed.files[segments[0]], renamed.files[segments[1]] = renamed.files[segments[1]], renamed.files[segments[0]]
	if _, err := Open("", small(renamed)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("two segments that changed places: %v", err)
	}
}

func TestALostSegmentIsCorrupt(t *testing.T) {
	d, segments, _ := fifty(t)
	if len(segments) < 3 {
		t.Fatalf("segments %v", segments)
	}
	for i, name := range segments[:len(segments)-1] {
		lost := d.clone()
		delete(lost.files, name)
		if _, err := Open("", small(lost)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("without segment %d of %d: %v", i+1, len(segments), err)
		}
	}
}

func TestASnapshotAheadOfTheRecordsIsCorrupt(t *testing.T) {
	d, segments, _ := fifty(t)
	d.files[fileName(units, snapshotExt)] = d.newFile(nil)
	lost := d.clone()
	delete(lost.files, segments[len(segments)-1])
	if _, err := Open("", small(lost)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("records lost: %v", err)
	}
	for _, name := range segments {
		delete(d.files, name)
	}
	if _, err := Open("", small(d)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("all records lost: %v", err)
	}
}

// TestASnapshotHealsTheRecordThatWasCut damages the last record, of which there
// is a snapshot: the journal goes on behind it.
func TestASnapshotHealsTheRecordThatWasCut(t *testing.T) {
	ctx := context.Background()
	d := newCrashDisk()
	j := mustOpen(t, small(d))
	mustAppend(t, j, 1, 20)
	for _, at := range []uint64{15, 20} {
		if err := save(j, at, "state"); err != nil {
			t.Fatal(err)
		}
	}
	end, name := j.end, fileName(j.segments[len(j.segments)-1], segmentExt)
	mustClose(t, j)
	d.files[name].bytes[end-9] ^= 1
	for range 2 {
		j = mustOpen(t, small(d))
		if tail, _ := j.Tail(ctx); tail < 20 {
			t.Fatalf("the tail is %d", tail)
		}
		tail, _ := j.Tail(ctx)
		mustAppend(t, j, tail+1, tail+5)
		if n, err := readAll(t, j, 20); n != int(tail+5-20) || err != nil {
			t.Errorf("read %d behind the snapshot, %v", n, err)
		}
		if n, err := readAll(t, j, 15); n != 4 || !errors.Is(err, ErrCorrupt) {
			t.Errorf("read %d behind the older snapshot, %v", n, err)
		}
		mustClose(t, j)
	}
}

// TestLengthsThatLie forges lengths with right checksums.
func TestLengthsThatLie(t *testing.T) {
	for _, payload := range [][]byte{
		{0}, {1, 0, 0}, {255, 255, 255, 255}, {5, 0, 0, 0, 1}, binary.LittleEndian.AppendUint32(nil, 1<<31),
	} {
		d := newCrashDisk()
		j := mustOpen(t, small(d))
		mustAppend(t, j, 1, 2)
		copy(d.files[fileName(1, segmentExt)].bytes[j.end:], appendUnit(nil, j.salt, j.tail, payload))
		mustClose(t, j)
		j = mustOpen(t, small(d))
		if cut, ok := j.WasCut(); !ok || cut.At != 3 {
			t.Errorf("payload %v: cut %+v, %v", payload, cut, ok)
		}
		wantRecords(t, j, 2)
		mustClose(t, j)
	}
}

// TestALengthIsUnderTheChecksum is of lengths that have the same number of zeros
// behind them.
func TestALengthIsUnderTheChecksum(t *testing.T) {
	for n := range 32 {
		unit := appendUnit(nil, 1, link{}, appendRecord(nil, make([]byte, n)))
		for bit := range 32 {
			forged := slices.Clone(unit)
			forged[bit/8] ^= 1 << (bit % 8)
			if h := parseUnitHeader(forged); unitSize(h.length) == int64(len(unit)) && h.intact(forged) {
				t.Errorf("%d bytes pass for %d", 4+n, h.length)
			}
		}
	}
}

// signed makes the units that b begins with fit behind s: their checksums and, with
// chained, their places in the chain are right.
func signed(s segment, b []byte, chained bool) {
	at := s.before
	for len(b) >= unitHead {
		h := parseUnitHeader(b)
		size := unitSize(h.length)
		if size > int64(len(b)) {
			return
		}
		if chained {
			binary.LittleEndian.PutUint64(b[8:], at.seq+1)
			binary.LittleEndian.PutUint64(b[16:], at.half())
			binary.LittleEndian.PutUint64(b[24:], s.salt)
		}
		binary.LittleEndian.PutUint32(b[4:], unitSum(b[:size]))
		payload := b[unitHead : unitHead+int(h.length)]
		n, _ := eachRecord(payload, func([]byte) error { return nil })
		at = at.next(n, payload)
		b = b[size:]
	}
}

// FuzzJournal opens a folder whose only segment has any bytes behind its header,
// or any units whose checksums are right, or their chain as well.
func FuzzJournal(f *testing.F) {
	const header, checksums, chain, short = 1, 2, 4, 8
	s := segment{salt: 0x5a17}
	one := appendUnit(nil, s.salt, s.before, appendRecord(nil, []byte("one")))
	two := appendUnit(slices.Clone(one), s.salt, s.before, appendRecord(appendRecord(nil, nil), []byte("two")))
	f.Add([]byte{}, byte(header))
	f.Add(one, byte(header))
	f.Add(append(slices.Clone(one), 0, 0, 0, 0, 0, 0, 0, 1), byte(header))
	f.Add([]byte(segmentMagic), byte(0))
	f.Add(two, byte(header|checksums))
	f.Add(two, byte(header|checksums|chain))
	f.Add(append(slices.Clone(two), 1, 0, 0, 0), byte(header|checksums|chain))
	f.Add(two, byte(header|checksums|chain|short))
	f.Fuzz(func(t *testing.T, b []byte, has byte) {
		d := newCrashDisk()
		file := d.newFile(nil)
		s := s
		if s.size = int64(segmentHead + len(b)); has&short != 0 {
			s.size++
		}
		if has&header != 0 {
			file.bytes = s.header()
		}
		if b = slices.Clone(b); has&checksums != 0 {
			signed(s, b, has&chain != 0)
		}
		file.bytes = append(file.bytes, b...)
		d.files[fileName(1, segmentExt)] = file
		j, err := Open("", small(d))
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		if has&short != 0 {
			t.Fatal("a short file is opened")
		}
		tail, _ := j.Tail(context.Background())
		if at, err := j.Append(context.Background(), tail, []byte("more")); at != tail+1 || err != nil {
			t.Fatal(at, err)
		}
		n := uint64(0)
		if err := j.Read(context.Background(), 0, func(at uint64, _ []byte) error {
			if n++; at == tail+1 {
				return errEnough
			}
			return nil
		}); !errors.Is(err, errEnough) || n != tail+1 {
			t.Fatalf("read %d of %d: %v", n, tail+1, err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// A unit of another history has the same salt, place and size.
func TestOpen_UnitOfAnotherHistoryIsDamage(t *testing.T) {
	var disks [2]*crashDisk
	for i := range disks {
		disks[i] = newCrashDisk()
		j := mustOpen(t, small(disks[i]))
		for at := range uint64(3) {
			if _, err := j.Append(context.Background(), at, []byte{byte(i), byte(at)}); err != nil {
				t.Fatal(err)
			}
		}
		mustClose(t, j)
	}
	name, size := fileName(1, segmentExt), int(unitSize(4+2))
	for unit := range 2 {
		d := disks[0].clone()
		at := segmentHead + (1+unit)*size
		copy(d.files[name].bytes[at:at+size], disks[1].files[name].bytes[at:])
		j, err := Open("", small(d))
		if last := unit == 1; last && err == nil {
			if cut, ok := j.WasCut(); !ok || cut.At != 3 {
				t.Errorf("the last unit: cut %+v, %v", cut, ok)
			}
			mustClose(t, j)
		} else if last || !errors.Is(err, ErrCorrupt) {
			t.Errorf("unit %d: %v", 2+unit, err)
		}
	}
}
