//go:build !handloom_check && !race

package check

// Label is nothing in a build without checks.
type Label struct{}

// NewLabel returns the zero Label in a build without checks.
func NewLabel(string, string) Label { return Label{} }

// CurrentLabel returns the zero Label in a build without checks.
func CurrentLabel() Label { return Label{} }

func (Label) set() {}
