package trace

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// bufferSize is far above MaxLine, so that few lines span two reads.
const bufferSize = 64 << 10

// open returns the text in r, decompressed if it begins with the two bytes of
// gzip.
func open(r io.Reader) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(r, bufferSize)
	magic, err := in.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if string(magic) != "\x1f\x8b" {
		return in, nil
	}
	unzipped, err := gzip.NewReader(in)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(unzipped, bufferSize), nil
}

func readReason(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return "the gzip data is cut off after this line"
	}
	var corrupt flate.CorruptInputError
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.As(err, &corrupt) {
		return fmt.Sprintf("the gzip data is corrupt after this line (%v)", err)
	}
	return fmt.Sprintf("reading failed after this line: %v", err)
}
