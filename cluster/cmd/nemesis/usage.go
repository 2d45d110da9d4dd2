//go:build unix

package main

import (
	_ "embed"
	"io"
	"text/template"

	"handloom/cluster/internal/nemesis"
)

//go:embed usage.txt
var usageText string

// usage writes the help for -h, with all events and faults.
func usage(w io.Writer) {
	kinds, deck := nemesis.Kinds(), 0
	for _, k := range kinds {
		deck += k.Weight
	}
	_ = template.Must(template.New("usage").Parse(usageText)).Execute(w, map[string]any{
		"Kinds": kinds, "Deck": deck, "Canaries": nemesis.Mutants,
	})
}
