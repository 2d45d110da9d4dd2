package image

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestFormat_CommentHasTheConstants(t *testing.T) {
	source, err := os.ReadFile("image.go")
	if err != nil {
		t.Fatal(err)
	}
	comment, _, _ := strings.Cut(string(source), "const (")
	start := len(magic) + 4
	for _, line := range []string{
		fmt.Sprintf("magic     %q %d %d", magic[:6], magic[6], magic[7]),
		fmt.Sprintf("payload, at most %d MiB", blockBytes>>20),
		fmt.Sprintf("byte 0           %d        %d                       %d+length", len(magic), start, start),
		fmt.Sprintf("byte 0        4       6       8      9       12    %d          %d+length", blockHead, blockHead),
		fmt.Sprintf("blocks of kind %d together", blockState),
		fmt.Sprintf("kind %d, 8 bytes    | digest of the shard |", blockShard),
		fmt.Sprintf("kind %d, 12 bytes   | digest of the store | blocks before u32 |", blockWhole),
	} {
		if !strings.Contains(comment, line) {
			t.Errorf("the comment has no %q", line)
		}
	}
}

// A short is a writer that takes some bytes.
type short struct{ left int }

var errShort = errors.New("no room")

func (w *short) Write(b []byte) (n int, err error) {
	if n = min(len(b), w.left); n < len(b) {
		err = errShort
	}
	w.left -= n
	return n, err
}

func TestWriteTo_CountsBytesOfAFailedWrite(t *testing.T) {
	for left := range 9 {
		w, r := newWriter(), new(run)
		r.add([]byte("abc"))
		r.share([]byte("defgh"))
		w.full <- r
		close(w.full)
		n, err := w.writeTo(&short{left})
		if n != int64(left) || (err == nil) != (left == 8) {
			t.Errorf("%d bytes fit: got %d, %v", left, n, err)
		}
	}
}
