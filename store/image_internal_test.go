package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"
)

// What the comment of the format says in numbers is what the constants are, and
// what is written.
func TestThePictureOfASnapshotIsOneOfIt(t *testing.T) {
	source, err := os.ReadFile("image.go")
	if err != nil {
		t.Fatal(err)
	}
	comment, _, _ := strings.Cut(string(source), "const (")
	start := len(imageMagic) + 4
	for _, line := range []string{
		fmt.Sprintf("magic     %q %d %d", imageMagic[:6], imageMagic[6], imageMagic[7]),
		fmt.Sprintf("payload, at most %d MiB", frameBytes>>20),
		fmt.Sprintf("byte 0           %d        %d                       %d+length", len(imageMagic), start, start),
		fmt.Sprintf("byte 0        4       6       8      9       12    %d          %d+length", frameHead, frameHead),
		fmt.Sprintf("frames of kind %d are together", frameState),
		fmt.Sprintf("kind %d, 8 bytes    | digest of the shard |", blockShard),
		fmt.Sprintf("kind %d, 12 bytes   | digest of the store | frames before u32 |", frameWhole),
	} {
		if !strings.Contains(comment, line) {
			t.Errorf("the comment has no %q", line)
		}
	}

	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Register(s, TableOptions[uint32]{Name: "two", Shards: 2}); err != nil {
		t.Fatal(err)
	}
	if _, err := RegisterStable(s, TableOptions[uint32]{Name: "one"}); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.Snapshot(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	rest := b.Bytes()[start:]
	rest = rest[binary.LittleEndian.Uint32(b.Bytes()[8:])+4:]
	var kinds, sizes []int
	for len(rest) > 0 {
		length := int(binary.LittleEndian.Uint32(rest))
		kinds, sizes = append(kinds, int(rest[8])), append(sizes, length)
		rest = rest[16+length:]
	}
	// No slots: 16 bytes, 24 behind them, and 1 for an order that is not known.
	if fmt.Sprint(kinds) != "[0 1 0 1 0 1 2]" || fmt.Sprint(sizes) != "[41 8 41 8 40 8 12]" {
		t.Errorf("frames of kinds %v with %v bytes", kinds, sizes)
	}
}
