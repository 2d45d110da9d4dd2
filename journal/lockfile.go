package journal

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

// The lock file names the newest segment, so that Open detects a missing one. It is written
// after the segment's name is durable.
//
//	"HLJLCK" 0 1 | first seq u64 of the newest segment | crc u32 of all before it
//
// Package lockfile names the holder after byte 32. Another header means no segments.
const (
	lockName  = "lock"
	lockBytes = 20
	lockMagic = "HLJLCK\x00\x01"
)

// errLockLost means that another process may have locked a new lock file.
var errLockLost = errors.New("lock file or folder was removed or replaced")

func readNewest(f io.ReaderAt) (first uint64, err error) {
	var b [lockBytes]byte
	if _, err := f.ReadAt(b[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if string(b[:8]) != lockMagic || binary.LittleEndian.Uint32(b[16:]) != crc32.Checksum(b[:16], castagnoli) {
		return 0, nil
	}
	return binary.LittleEndian.Uint64(b[8:]), nil
}

func writeNewest(f file, first uint64) error {
	b := append(make([]byte, 0, lockBytes), lockMagic...)
	b = binary.LittleEndian.AppendUint64(b, first)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	if _, err := f.WriteAt(b, 0); err != nil {
		return err
	}
	return f.sync()
}
