package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Numbers is the value of a flag like 1,2,8: distinct numbers from 1.
type Numbers []int

func (l *Numbers) Set(text string) error {
	var list Numbers
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		switch {
		case err != nil:
			return fmt.Errorf("%q is not a number", word)
		case n < 1:
			return fmt.Errorf("%d is not 1 or more", n)
		case slices.Contains(list, n):
			return fmt.Errorf("%d is named twice", n)
		}
		list = append(list, n)
	}
	*l = list
	return nil
}

func (l *Numbers) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint([]int(*l)), " ", ","), "[]")
}

// CommandLine returns the shell command of a program with args.
func CommandLine(program string, args ...string) string {
	words := []string{program}
	for _, arg := range args {
		words = append(words, Quote(arg))
	}
	return strings.Join(words, " ")
}

// Quote returns s as one shell word.
func Quote(s string) string {
	special := func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-_./,+:@%=", c)
	}
	if s != "" && strings.IndexFunc(s, special) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
