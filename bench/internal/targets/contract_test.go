package targets

import (
	"regexp"
	"testing"

	"handloom/bench/internal/suite"
)

func TestContract_NamesExistingCases(t *testing.T) {
	p := NewPlan(regexp.MustCompile(""), 16)
	there := make(map[string]bool)
	for _, c := range (suite.Options{Workers: p.Workers()}).All() {
		there[c.Name()] = true
	}
	for _, c := range p.clauses {
		for _, called := range c.value.cases {
			needs := name(called, c.place)
			if !there[needs.Name()] {
				t.Errorf("%s, %s: there is no case %s", c.id, c.work, needs.Name())
			}
		}
	}
	if len(p.clauses) < 70 || len(p.Evaluate(nil, nil)) != 0 {
		t.Errorf("the plan has %d lines", len(p.clauses))
	}
}
