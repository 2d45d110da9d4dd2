package layout

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// words returns the words of a variable of the Makefile.
func words(t *testing.T, variable string) []string {
	t.Helper()
	text, err := os.ReadFile("../../Makefile")
	noError(t, err)
	list := regexp.MustCompile(`(?m)^` + variable + ` = ((?:.*\\\n)*.*)`).FindSubmatch(text)
	if list == nil {
		t.Fatalf("the Makefile has no %s", variable)
	}
	return strings.Fields(strings.ReplaceAll(string(list[1]), "\\", ""))
}

// A renamed test would run under the race detector again, and no longer in full size.
func TestMakefile_NamesTests(t *testing.T) {
	absent := map[string]bool{}
	for _, name := range slices.Concat(words(t, "UNRACED"), words(t, "FULL")) {
		name, _, _ = strings.Cut(name, "/") // a case
		absent[name] = true
	}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	eachFile(t, repository, func(_, text string) {
		for _, test := range declared.FindAllStringSubmatch(text, -1) {
			delete(absent, test[1])
		}
	}, isTest)
	for name := range absent {
		t.Errorf("no test is called %s", name)
	}
}
