package chart

import (
	"html"
	"strings"
	"unicode/utf8"
)

// Escape returns s as text of XML and HTML. Characters not allowed in XML become the
// replacement character.
func Escape(s string) string {
	clean := func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' || r == 0xFFFE || r == 0xFFFF {
			return utf8.RuneError
		}
		return r
	}
	return html.EscapeString(strings.Map(clean, strings.ToValidUTF8(s, string(utf8.RuneError))))
}

const font = 13 // pixels

// width returns the approximate width of s in pixels, at least as in common
// sans-serif fonts.
func width(s string) float64 {
	sum := 0.0
	for _, r := range s {
		switch {
		case strings.ContainsRune(" .,:;'|!iljI()[]", r):
			sum += 0.4
		case strings.ContainsRune("mwMW%@", r):
			sum += 0.98
		case r >= 'A' && r <= 'Z':
			sum += 0.76
		case r < 0x2000:
			sum += 0.64
		default: // ideographs and symbols
			sum += 1.1
		}
	}
	return sum * font
}

// fit returns s, or its longest prefix with an ellipsis that fits into room.
func fit(s string, room float64) string {
	if width(s) <= room {
		return s
	}
	runes := []rune(s)
	for len(runes) > 1 && width(string(runes)+"…") > room {
		runes = runes[:len(runes)-1]
	}
	return strings.TrimRight(string(runes), " ") + "…"
}
