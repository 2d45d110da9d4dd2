package entry

import (
	"strconv"
	"strings"
)

const callKeyPrefix = "call-"

// CallKey returns the key of a client's call that began at a time of ticks or later, in Unix
// nanoseconds. id distinguishes the calls.
func CallKey(began int64, id string) string {
	return callKeyPrefix + strconv.FormatInt(began, 36) + "-" + id
}

// CallBegan returns the time of a [CallKey].
func CallBegan(key string) (began int64, ok bool) {
	rest, ok := strings.CutPrefix(key, callKeyPrefix)
	text, _, found := strings.Cut(rest, "-")
	began, err := strconv.ParseInt(text, 36, 64)
	return began, ok && found && err == nil && began > 0
}
