// Package sample holds the trace that programs of this module replay when they
// are given none.
package sample

import _ "embed"

// Trace is a trace of this project's own tests, compressed; README.txt says how
// it was made.
//
//go:embed handlemap.trace.gz
var Trace []byte
