package trace

import _ "embed"

// Sample is a compressed trace of the tests of shard/handlemap. The file
// sample/README.txt holds the commands that made it.
//
//go:embed sample/handlemap.trace.gz
var Sample []byte
