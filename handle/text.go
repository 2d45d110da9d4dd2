package handle

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrSyntax means that the input of [Parse] or an Unmarshal method is not the text of a
// handle. The message has the input.
var ErrSyntax = errors.New("not a handle")

// String returns the text form type:slot.generation, for example "7:42.3". Provisional
// handles begin with a tilde: "~7:42.3".
func (id ID) String() string {
	var buf [24]byte
	return string(id.appendTo(buf[:0]))
}

// MarshalText returns the text form, so that handles work in JSON, also as map keys. The
// error is always nil.
func (id ID) MarshalText() ([]byte, error) { return id.appendTo(nil), nil }

// UnmarshalText sets id from its text form. On error, which wraps [ErrSyntax], id is
// unchanged.
func (id *ID) UnmarshalText(text []byte) error {
	parsed, err := Parse(string(text))
	if err == nil {
		*id = parsed
	}
	return err
}

func (id ID) appendTo(b []byte) []byte {
	if id.IsProvisional() {
		b = append(b, '~')
	}
	b = strconv.AppendUint(b, uint64(id.TypeID()), 10)
	b = append(b, ':')
	b = strconv.AppendUint(b, uint64(id.Slot()), 10)
	b = append(b, '.')
	return strconv.AppendUint(b, uint64(id.Generation()), 10)
}

// Parse is the inverse of [ID.String]. For other texts, including other spellings of the
// same numbers, it returns an error that wraps [ErrSyntax].
func Parse(s string) (ID, error) {
	rest, provisional := strings.CutPrefix(s, "~")
	typeText, rest, _ := strings.Cut(rest, ":")
	slotText, generationText, _ := strings.Cut(rest, ".")
	typeID, err1 := strconv.ParseUint(typeText, 10, 15)
	slot, err2 := strconv.ParseUint(slotText, 10, 32)
	generation, err3 := strconv.ParseUint(generationText, 10, 16)

	id := New(uint16(typeID), uint16(generation), uint32(slot))
	if provisional {
		id |= FreeBit
	}
	// Comparison with String rejects signs, leading zeros and trailing text.
	if err1 != nil || err2 != nil || err3 != nil || id.String() != s {
		return 0, fmt.Errorf("%w: %q (want type:slot.generation, such as 7:42.3)", ErrSyntax, s)
	}
	return id, nil
}
