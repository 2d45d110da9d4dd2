package wire

import "crypto/sha256"

// Chain returns the sum of all records of a log up to rec, where before is that of all
// records before it: the first half of the SHA-256 of both.
func Chain(before [16]byte, rec []byte) (sum [16]byte) {
	h := sha256.New()
	h.Write(before[:])
	h.Write(rec)
	copy(sum[:], h.Sum(nil))
	return sum
}
