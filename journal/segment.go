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

// A segment is a file of units, named by the position of its first record.
//
//	"HLJRNL" 0 2 | salt u64 | first seq u64 | chain before it [16] | size u64 | flags u32 | crc u32 of all before it
type segment struct {
	salt   uint64
	before link  // before its first unit
	size   int64 // bytes of the whole file

	// heals means that it follows a snapshot, not a segment: see recover.
	heals bool
}

const (
	segmentHeaderSize = 56
	segmentMagic      = "HLJRNL\x00\x02"
	flagHeals         = 1

	segmentExt  = ".log"
	snapshotExt = ".snap"
	rejectedExt = ".bad" // a rejected snapshot
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
	b := append(make([]byte, 0, segmentHeaderSize), segmentMagic...)
	b = binary.LittleEndian.AppendUint64(b, s.salt)
	b = binary.LittleEndian.AppendUint64(b, s.first())
	b = append(b, s.before.chain[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.size))
	var flags uint32
	if s.heals {
		flags = flagHeals
	}
	b = binary.LittleEndian.AppendUint32(b, flags)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

var errHeader = errors.New("header does not match the file name")

func readHeader(f io.ReaderAt, first uint64) (segment, error) {
	var b [segmentHeaderSize]byte
	if _, err := f.ReadAt(b[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return segment{}, err
	}
	const end = segmentHeaderSize
	s := segment{salt: binary.LittleEndian.Uint64(b[8:]), size: int64(binary.LittleEndian.Uint64(b[40:])), heals: binary.LittleEndian.Uint32(b[end-8:])&flagHeals != 0}
	sum := binary.LittleEndian.Uint32(b[end-4:])
	if string(b[:8]) != segmentMagic || sum != crc32.Checksum(b[:end-4], castagnoli) || binary.LittleEndian.Uint64(b[16:]) != first || first == 0 || s.size < end {
		return segment{}, errHeader
	}
	s.before.seq = first - 1
	copy(s.before.chain[:], b[24:40])
	return s, nil
}

type cursor struct {
	segment
	file   file
	size   int64 // file size by its header
	have   int64 // file size on the disk
	offset int64 // offset of the next unit
	at     link  // before the next unit
	buf    []byte
}

func openCursor(d disk, first uint64) (*cursor, error) {
	name := fileName(first, segmentExt)
	f, err := d.open(name)
	if err != nil {
		return nil, err
	}
	have, err := f.size()
	if err == nil {
		var s segment
		if s, err = readHeader(f, first); err == nil {
			return &cursor{segment: s, file: f, size: s.size, have: have, offset: segmentHeaderSize, at: s.before}, nil
		}
	}
	f.Close()
	if errors.Is(err, errHeader) {
		return nil, &CorruptError{File: name, At: first, Offset: 0, Reason: err.Error()}
	}
	return nil, err
}

func (c *cursor) close() error { return c.file.Close() }

// errEnd means that only zeros follow.
var errEnd = errors.New("end of units")

// next reads the unit at the cursor and moves past it. The payload is valid until the next
// call. It returns errEnd, a damage, or an error of the disk.
func (c *cursor) next() (payload []byte, err error) {
	var header [unitHeaderSize]byte
	if c.size-c.offset < unitHeaderSize {
		return nil, errEnd
	}
	has := header[:max(0, min(unitHeaderSize, c.have-c.offset))]
	if err := readFull(c.file, has, c.offset); err != nil {
		return nil, err
	}
	if allZero(has) {
		return nil, errEnd
	}
	if len(has) < unitHeaderSize {
		return nil, c.short()
	}
	h := parseUnitHeader(header[:])
	unit, err := c.unit(h)
	if err != nil {
		return nil, err
	}
	if err := h.follows(c.at, c.salt); err != nil {
		return nil, damage{err}
	}
	payload = unit[unitHeaderSize : unitHeaderSize+int(h.length)]
	n, err := eachRecord(payload, func([]byte) error { return nil })
	if err != nil || n == 0 {
		return nil, damage{errPayload}
	}
	c.at = c.at.next(n, payload)
	c.offset += int64(len(unit))
	return payload, nil
}

func (c *cursor) unit(h unitHeader) ([]byte, error) {
	size := unitSize(h.length)
	if h.length == 0 || size > c.size-c.offset {
		return nil, damage{errLength}
	}
	if size > c.have-c.offset {
		return nil, c.short()
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

// A damage is an error of the bytes, not of the disk.
type damage struct{ error }

func (d damage) Unwrap() error { return d.error }

// joins returns a damage if the segment does not follow before. Before may lack zeros past its
// last unit.
func (c *cursor) joins(before *cursor) error {
	switch {
	case before == nil, c.salt == before.salt && (c.heals || c.before == before.at):
		return nil
	case before.have < before.size:
		return before.corrupt(before.short())
	}
	return &CorruptError{File: c.name(), At: before.at.seq + 1, Reason: errChain.Error()}
}

func (c *cursor) short() error {
	return damage{fmt.Errorf("file has %d bytes, want %d", c.have, c.size)}
}

func (c *cursor) corrupt(why error) error {
	return &CorruptError{File: c.name(), At: c.at.seq + 1, Offset: c.offset, Reason: why.Error()}
}

// hasLaterUnit reports whether rest, the bytes from the cursor, contains a later unit of this
// journal, or its header.
func (c *cursor) hasLaterUnit(rest []byte) bool {
	for o := unitAlign; o+unitHeaderSize <= len(rest); o += unitAlign {
		h := parseUnitHeader(rest[o:])
		if h.salt != c.salt || h.length == 0 {
			continue
		}
		if h.seq > c.at.seq+1 {
			return true
		}
		if size := unitSize(h.length); size <= int64(len(rest)-o) && h.intact(rest[o:int64(o)+size]) {
			return true
		}
	}
	return false
}

// unitAt returns the size of the unit at the start of rest, or 0 if its header is damaged. A
// missing sector has zeros for length or position.
func (c *cursor) unitAt(rest []byte) int64 {
	if len(rest) < unitHeaderSize {
		return 0
	}
	h := parseUnitHeader(rest)
	if h.length == 0 || h.follows(c.at, c.salt) != nil || unitSize(h.length) > int64(len(rest)) {
		return 0
	}
	return unitSize(h.length)
}

func (c *cursor) rest() ([]byte, error) {
	rest := make([]byte, max(c.size-c.offset, 0))
	return rest, readFull(c.file, rest, c.offset)
}

func readFull(f io.ReaderAt, b []byte, offset int64) error {
	n, err := f.ReadAt(b, offset)
	if n == len(b) {
		return nil
	}
	return fmt.Errorf("journal: %d of %d bytes at %d: %w", n, len(b), offset, err)
}
