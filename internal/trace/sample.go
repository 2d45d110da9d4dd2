package trace

import _ "embed"

// Sample is a compressed trace of the tests of shard/handlemap, made by the
// commands in sample/README.txt.
//
//go:embed sample/handlemap.trace.gz
var Sample []byte
