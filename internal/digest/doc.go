// Package digest computes one 64-bit number from values of any Go type, so
// that two states can be compared without keeping either.
//
//   - digest: the sum of a byte stream.
//   - encoding: the byte stream of a value, fixed by the table below.
//   - plan: the encoding of one type, worked out once by reflection.
//   - memory type: a type whose memory is its encoding, byte for byte.
//
// Equal values have equal encodings on every platform, so equal digests too.
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
// An entry of a map is the key's bytes followed by the value's bytes, and
// entries are in ascending order of these bytes (as [bytes.Compare] has it).
// One rule serves every key type, and where two entries compare equal their
// bytes are the same, so that their order does not matter: keys that are NaN
// or pointers need no rule of their own. It is not the order of the numbers.
//
// Floats are told apart by their bits: 0 and -0 differ, as do NaNs with
// different payloads. The name of a dynamic type is what its String method
// in package reflect gives, for example "time.Duration".
//
// # Memory types
//
//	struct { A, B uint32; C float64 }    A A A A B B B B C C C C C C C C   memory
//	struct { A uint8; B uint32 }         A . . . B B B B                   padding
//	struct { A uint32; P *T }            A A A A . . . . P P P P P P P P   padding, P is skipped
//
// A memory type has fixed-size numbers and bools only, no padding, and no
// skipped field that takes room. int, uint and uintptr count where they have
// 64 bits, and nothing counts on a big-endian machine. A whole slice of a
// memory type is one run of bytes for the hash. Every other type is walked by
// offsets found when the plan was made; only maps and interfaces need
// reflection again. Inside such a type, neighbouring fields that are memory
// are still taken as one run.
//
// # Older types
//
// The text of a type's [Codec.Schema] says how its values are encoded. What was
// written as an older version of a type is read as the newer one by such a text
// alone ([Migration]): the operations that decode are then in the order of the old
// fields, and their offsets are those of the new.
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
// For a given word this is a one-to-one function of the lane, and the other
// way round, so one changed word always leaves a changed lane. The lanes do
// not wait for each other, which is where the speed comes from. The sum pads
// the last block with zero bytes, folds the four lanes and the length, and
// mixes the result. Bytes that do not fill a block wait in a buffer, which
// makes the sum a function of the bytes alone and not of how calls cut them.
//
// # What it does not do
//
// The hash is not cryptographic: whoever chooses the bytes can choose two
// streams with one sum. The digest follows no pointers. It has no guard
// against a value that contains itself (through a slice, a map or an
// interface): that walk does not end. It takes no locks; nothing may change
// a value while it is digested.
package digest
