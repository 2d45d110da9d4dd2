package journal

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

// The lock file names the newest segment, so that Open finds out when the file is
// missing:
//
//	"HLJLCK" 0 1 | first seq u64 of the newest segment | crc u32 of all before it
//
// It is written after the name of the segment is durable. One that does not begin like
// this is of a folder whose journal is of segments of version 1, or of one that has no
// segment yet.
const (
	lockName  = "lock"
	lockBytes = 20
	lockMagic = "HLJLCK\x00\x01"
)

// errLockLost means that the file that is locked is not the lock file of the folder any
// more: another process may have locked that one.
var errLockLost = errors.New("the lock file, or the folder, was removed or replaced")

// newestNoted returns the first record of the newest segment that the lock file names,
// 0 if it names none.
func newestNoted(f io.ReaderAt) (first uint64, err error) {
	var b [lockBytes]byte
	if _, err := f.ReadAt(b[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if string(b[:8]) != lockMagic || binary.LittleEndian.Uint32(b[16:]) != crc32.Checksum(b[:16], castagnoli) {
		return 0, nil
	}
	return binary.LittleEndian.Uint64(b[8:]), nil
}

// noteNewest makes the segment that begins at first the newest one in the lock file.
func noteNewest(f file, first uint64) error {
	b := append(make([]byte, 0, lockBytes), lockMagic...)
	b = binary.LittleEndian.AppendUint64(b, first)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	if _, err := f.WriteAt(b, 0); err != nil {
		return err
	}
	return f.sync()
}
