// Package digest computes one 64-bit number from values of any Go type, to compare two states
// without storing either.
//
//   - digest: the sum of a byte stream.
//   - encoding: the byte stream of a value, fixed by the table below.
//   - plan: the encoding of one type, worked out once by reflection.
//   - memory type: a type whose memory is its encoding, byte for byte.
//
// Equal values have equal encodings, and equal digests, on every platform.
//
// # The encoding
//
// Everything is little endian. A length is 8 bytes.
//
//	type                          bytes
//	bool                          1: 0 or 1
//	int8..int64, uint8..uint64    their size
//	int, uint, uintptr            8, int with its sign extended
//	float32, float64              4 or 8: their bits
//	complex64, complex128         real part, then imaginary part
//	string                        length, bytes
//	slice                         length, elements (nil is empty)
//	array                         elements
//	struct                        fields in declared order, unexported ones too
//	map                           length, entries in order (nil is empty)
//	interface                     0 if nil; else 1, then the dynamic type's
//	                              name as a string, then the value
//	pointer, function, channel,
//	unsafe.Pointer, field _       nothing
//
// An entry of a map is the key's bytes followed by the value's bytes. Entries are in
// ascending order of these bytes, as by [bytes.Compare], also for NaN and pointer keys.
//
// Floats are compared by their bits: 0 and -0 differ, as do NaNs with different payloads. The
// name of a dynamic type is the result of its String method in package reflect, for example
// "time.Duration".
//
// # Memory types
//
//	struct { A, B uint32; C float64 }    A A A A B B B B C C C C C C C C   memory
//	struct { A uint8; B uint32 }         A . . . B B B B                   padding
//	struct { A uint32; P *T }            A A A A . . . . P P P P P P P P   padding, P is skipped
//
// A memory type has only numbers of fixed size and bools, no padding, and no skipped field of
// nonzero size. int, uint and uintptr count if they have 64 bits. A big-endian machine has no
// memory types. A slice of a memory type is hashed as one run of bytes. Other types are walked
// by the offsets in the plan. Adjacent memory fields inside such a type are still one run.
//
// # Older types
//
// The text of [Codec.Schema] describes the encoding of a type. With that text alone, values of
// an older version of a type are read as the newer one ([Migration]): decode operations are in
// the order of the old fields, with the offsets of the new fields.
//
//	old   struct{A int32; B string; C int8}       a a a a | length, bytes | c
//	new   struct{C int64; D bool; A int32}        memory 16.. | skip      | widen 0..     D is zero
//
// # The hash
//
//	word     0  1  2  3  4  5  6  7 ...
//	lane     0  1  2  3  0  1  2  3        32 bytes are a block
//
// Each of four lanes takes every fourth 8-byte word:
//
//	lane = rotate(lane ^ word*a, 29) * b
//
// This is a bijection of the lane and of the word, so one changed word always changes the
// lane. Independent lanes make the hash fast. The sum pads the last block with zero bytes,
// folds the four lanes and the length, and mixes the result. The sum does not depend on the
// division into calls.
//
// # Limits
//
// The hash is not cryptographic: an attacker can construct two streams with one sum. The digest
// follows no pointers. It does not terminate on a value that contains itself (through a slice,
// a map or an interface). It takes no locks; values must not change during a digest.
package digest
