package entry

import (
	"encoding/binary"
	"testing"

	"handloom/internal/wire"
)

func TestReader_StopsAtTheEnd(t *testing.T) {
	b := binary.LittleEndian.AppendUint32(nil, 7)
	b = append(wire.AppendText(b, "seven"), 1, 2)
	for n := range len(b) + 1 {
		in := wire.Reader{Left: b[:n]}
		number, text, cut := in.Number(4), in.Text(), in.Cut(2)
		if in.Done() != (n == len(b)) || in.Failed != (n < len(b)) {
			t.Errorf("%d of %d bytes: done %t, failed %t", n, len(b), in.Done(), in.Failed)
		}
		if n == len(b) && (number != 7 || text != "seven" || string(cut) != "\x01\x02") {
			t.Errorf("%d, %q, %x", number, text, cut)
		}
	}
	if in := (wire.Reader{Left: append(b, 0)}); in.Number(4) != 7 || in.Done() {
		t.Error("Done with bytes left")
	}
	if in := (wire.Reader{Left: []byte{0xff, 0xff, 0xff, 0xff, 'x'}}); in.Text() != "" || !in.Failed || in.Number(1) != 0 {
		t.Error("a text longer than the bytes was read")
	}
}
