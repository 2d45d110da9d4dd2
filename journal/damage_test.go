package journal

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"
)

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

type outcomes struct{ refused, cut, whole int }

func (o *outcomes) open(t *testing.T, d *crashDisk) {
	t.Helper()
	found, err := inspect(d, func(uint64, []byte) error { return nil })
	noError(t, err)
	calls := d.calls
	live, liveErr := openRead(d)
	failIf(t, d.calls != calls, "OpenRead changes the folder")
	j, err := Open("", small(d))
	failIf(t, fmt.Sprint(liveErr) != fmt.Sprint(err), "OpenRead: %v; Open: %v", liveErr, err)
	if liveErr == nil && err == nil {
		equal(t, "tail of OpenRead", live.live.at, j.tail)
		mustClose(t, live)
	}
	if err != nil {
		var at *CorruptError
		if !errors.As(err, &at) || at.File == "" || at.At == 0 || at.At > units || found.Damage == nil || err.Error() != found.Damage.Error() {
			t.Fatalf("refused with %v; Inspect finds %v", err, found.Damage)
		}
		if o.refused++; o.refused%101 == 0 {
			wantRepaired(t, d)
		}
		return
	}
	want := units
	cut, ok := j.truncated()
	switch {
	case found.Damage != nil || found.TornTail != j.CutText():
		t.Fatalf("cut %+v, %v; Inspect finds %+v", cut, ok, found)
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

func TestOpen_FindsEveryFlippedBit(t *testing.T) {
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
				if testing.Short() && (8*at+bit)%61 != 0 {
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
	failIf(t, !testing.Short() && o.cut > 8*(last+64), "%d flips cut a record; the last has %d bits", o.cut, 8*last)
	failIf(t, o.refused == 0 || o.cut == 0, "%+v", o)
}

func TestOpen_UnitOfAnotherPlaceIsDamage(t *testing.T) {
	d, segments, _ := fifty(t)
	history := func(salt uint64, change byte) []byte {
		other := newCrashDisk()
		o := small(other)
		o.salt = salt
		j := mustOpen(t, o)
		for at := range uint64(3) {
			rec := record(at + 1)
			rec[0] ^= change
			noError(t, errorOf(j.Append(context.Background(), at, rec)))
		}
		mustClose(t, j)
		return other.files[segments[0]].bytes
	}
	swap := func(b []byte) {
		next := segmentHeaderSize + int(unitSize(binary.LittleEndian.Uint32(b[segmentHeaderSize:])))
		end := next + int(unitSize(binary.LittleEndian.Uint32(b[next:])))
		copy(b[segmentHeaderSize:], slices.Concat(b[next:end], b[segmentHeaderSize:next]))
	}
	second := segmentHeaderSize + int(unitSize(4+len(record(1))))
	size := int(unitSize(4 + len(record(2))))
	put := func(d *crashDisk, from []byte) { copy(d.files[segments[0]].bytes[second:], from[second:][:size]) }
	for name, damage := range map[string]func(d *crashDisk){
		"unit of another journal":  func(d *crashDisk) { put(d, history(0x5a18, 0)) },
		"unit of another history":  func(d *crashDisk) { put(d, history(0x5a17, 1)) },
		"unit of a later segment":  func(d *crashDisk) { put(d, d.files[segments[1]].bytes) },
		"swapped units":            func(d *crashDisk) { swap(d.files[segments[0]].bytes) },
		"swapped units at the end": func(d *crashDisk) { swap(d.files[segments[len(segments)-1]].bytes) },
		"segments with swapped name": func(d *crashDisk) {
			d.files[segments[0]], d.files[segments[1]] = d.files[segments[1]], d.files[segments[0]]
		},
	} {
		t.Run(name, func(t *testing.T) {
			damaged := d.clone()
			damage(damaged)
			wantError(t, errorOf(Open("", small(damaged))), ErrCorrupt)
		})
	}
}

func TestSnapshot_ReplacesTornRecord(t *testing.T) {
	ctx := context.Background()
	d := newCrashDisk()
	j := mustOpen(t, small(d))
	mustAppend(t, j, 1, 20)
	for _, at := range []uint64{15, 20} {
		noError(t, save(j, at, "state"))
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
		wantAfter(t, j, 20, int(tail+5-20))
		if n, err := readAll(t, j, 15); n != 4 || !errors.Is(err, ErrCorrupt) {
			t.Errorf("read %d behind the older snapshot, %v", n, err)
		}
		mustClose(t, j)
	}
}

func TestOpen_FindsForgedLengths(t *testing.T) {
	for _, payload := range [][]byte{
		{0}, {1, 0, 0}, {255, 255, 255, 255}, {5, 0, 0, 0, 1}, binary.LittleEndian.AppendUint32(nil, 1<<31),
	} {
		d := newCrashDisk()
		j := mustOpen(t, small(d))
		mustAppend(t, j, 1, 2)
		copy(d.files[fileName(1, segmentExt)].bytes[j.end:], appendUnit(nil, j.salt, j.tail, payload))
		mustClose(t, j)
		j = mustOpen(t, small(d))
		cut, ok := j.truncated()
		failIf(t, !ok || cut.At != 3, "payload %v: cut %+v, %v", payload, cut, ok)
		wantRecords(t, j, 2)
		mustClose(t, j)
	}
}

// signed gives the units of b valid checksums after s and, with chained, chains.
func signed(s segment, b []byte, chained bool) {
	at := s.before
	for len(b) >= unitHeaderSize {
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
		payload := b[unitHeaderSize : unitHeaderSize+int(h.length)]
		n, _ := eachRecord(payload, func([]byte) error { return nil })
		at = at.next(n, payload)
		b = b[size:]
	}
}

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
		if s.size = int64(segmentHeaderSize + len(b)); has&short != 0 {
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
		noError(t, j.Close())
	})
}
