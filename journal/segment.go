package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A segment is a file of units. Its name is the position of its first record.
//
//	"HLJRNL" 0 1 | salt u64 | first seq u64 | chain before it [16] | flags u32 | crc u32 of all before it
type segment struct {
	salt   uint64
	before link // what its first unit follows

	// heals says that the segment begins behind a snapshot, not behind the
	// segment before it: see recover.
	heals bool
}

const (
	segmentHead  = 48
	segmentMagic = "HLJRNL\x00\x01"
	flagHeals    = 1

	segmentExt  = ".log"
	snapshotExt = ".snap"
	rejectedExt = ".bad" // a snapshot that was rejected
	nextName    = "next.tmp"
	saveName    = "save.tmp"
)

func (s segment) first() uint64 { return s.before.seq + 1 }
func (s segment) name() string  { return fileName(s.first(), segmentExt) }

func fileName(at uint64, ext string) string { return fmt.Sprintf("%016x%s", at, ext) }

// numbered returns the numbers of the files with this extension, ascending.
func numbered(names []string, ext string) []uint64 {
	var at []uint64
	for _, name := range names {
		digits, ok := strings.CutSuffix(name, ext)
		if !ok || len(digits) != 16 {
			continue
		}
		if n, err := strconv.ParseUint(digits, 16, 64); err == nil {
			at = append(at, n)
		}
	}
	slices.Sort(at)
	return at
}

func (s segment) header() []byte {
	b := append(make([]byte, 0, segmentHead), segmentMagic...)
	b = binary.LittleEndian.AppendUint64(b, s.salt)
	b = binary.LittleEndian.AppendUint64(b, s.first())
	b = append(b, s.before.chain[:]...)
	var flags uint32
	if s.heals {
		flags = flagHeals
	}
	b = binary.LittleEndian.AppendUint32(b, flags)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

var errHeader = errors.New("the file does not begin like a segment of this name")

// readHeader reads the header of a file whose name says that it begins at first.
func readHeader(f io.ReaderAt, first uint64) (segment, error) {
	var b [segmentHead]byte
	if _, err := f.ReadAt(b[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return segment{}, err
	}
	flags := binary.LittleEndian.Uint32(b[40:])
	sum := binary.LittleEndian.Uint32(b[44:])
	if string(b[:8]) != segmentMagic || sum != crc32.Checksum(b[:44], castagnoli) || binary.LittleEndian.Uint64(b[16:]) != first || first == 0 {
		return segment{}, errHeader
	}
	s := segment{salt: binary.LittleEndian.Uint64(b[8:]), heals: flags&flagHeals != 0}
	s.before.seq = first - 1
	copy(s.before.chain[:], b[24:40])
	return s, nil
}

// A cursor reads the units of one segment in order.
type cursor struct {
	segment
	file   file
	size   int64 // of the file
	offset int64 // of the next unit
	at     link  // what the next unit follows
	buf    []byte
}

func openCursor(d disk, first uint64) (*cursor, error) {
	name := fileName(first, segmentExt)
	f, err := d.open(name)
	if err != nil {
		return nil, err
	}
	size, err := f.size()
	if err == nil {
		var s segment
		if s, err = readHeader(f, first); err == nil {
			return &cursor{segment: s, file: f, size: size, offset: segmentHead, at: s.before}, nil
		}
	}
	f.Close()
	if errors.Is(err, errHeader) {
		return nil, &CorruptError{File: name, At: first, Offset: 0, Reason: err.Error()}
	}
	return nil, err
}

func (c *cursor) close() error { return c.file.Close() }

// errEnd says that where a unit would begin there is none: only zeros, as far as
// a header reaches.
var errEnd = errors.New("the end of the units")

// next reads the unit at the cursor and moves behind it. The payload is good
// until the next call. The error is errEnd, one that says what is wrong with the
// bytes, as damage, or one of the disk.
func (c *cursor) next() (payload []byte, err error) {
	var head [unitHead]byte
	if c.size-c.offset < unitHead {
		return nil, errEnd
	}
	if err := readFull(c.file, head[:], c.offset); err != nil {
		return nil, err
	}
	if allZero(head[:]) {
		return nil, errEnd
	}
	h := parseUnitHeader(head[:])
	unit, err := c.unit(h)
	if err != nil {
		return nil, err
	}
	if err := h.follows(c.at, c.salt); err != nil {
		return nil, damage{err}
	}
	payload = unit[unitHead : unitHead+int(h.length)]
	n, err := eachRecord(payload, func([]byte) error { return nil })
	if err != nil || n == 0 {
		return nil, damage{errPayload}
	}
	c.at = c.at.next(n, payload)
	c.offset += int64(len(unit))
	return payload, nil
}

// unit reads the unit with this header, all of it, and verifies its checksum.
func (c *cursor) unit(h unitHeader) ([]byte, error) {
	size := unitSize(h.length)
	if h.length == 0 || size > c.size-c.offset {
		return nil, damage{errLength}
	}
	c.buf = slices.Grow(c.buf[:0], int(size))[:size]
	if err := readFull(c.file, c.buf, c.offset); err != nil {
		return nil, err
	}
	if !h.intact(c.buf) {
		return nil, damage{errChecksum}
	}
	return c.buf, nil
}

// damage is an error of the bytes, not of the disk that has them.
type damage struct{ error }

func (d damage) Unwrap() error { return d.error }

// corrupt makes the error for damage at the cursor.
func (c *cursor) corrupt(why error) error {
	return &CorruptError{File: c.name(), At: c.at.seq + 1, Offset: c.offset, Reason: why.Error()}
}

// unitBehind reports whether a whole unit of this journal begins in rest, which
// begins at the cursor, but not where rest begins.
func (c *cursor) unitBehind(rest []byte) bool {
	for o := unitAlign; o+unitHead <= len(rest); o += unitAlign {
		h := parseUnitHeader(rest[o:])
		if h.salt != c.salt || h.length == 0 {
			continue
		}
		if size := unitSize(h.length); size <= int64(len(rest)-o) && h.intact(rest[o:int64(o)+size]) {
			return true
		}
	}
	return false
}

// rest returns the bytes from the cursor to the end of the file.
func (c *cursor) rest() ([]byte, error) {
	rest := make([]byte, max(c.size-c.offset, 0))
	return rest, readFull(c.file, rest, c.offset)
}

// readFull reads all of b at offset, which the file has.
func readFull(f io.ReaderAt, b []byte, offset int64) error {
	n, err := f.ReadAt(b, offset)
	if n == len(b) {
		return nil
	}
	return fmt.Errorf("journal: %d of %d bytes at %d: %w", n, len(b), offset, err)
}
