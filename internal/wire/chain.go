package wire

import "crypto/sha256"

// Chain returns the hash of all records of a log up to rec: the first half of the SHA-256
// of before, the hash of all earlier records, and rec.
func Chain(before [16]byte, rec []byte) (sum [16]byte) {
	h := sha256.New()
	h.Write(before[:])
	h.Write(rec)
	copy(sum[:], h.Sum(nil))
	return sum
}
