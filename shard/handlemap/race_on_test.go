//go:build race || handloom_check

package handlemap_test

import "flag"

func init() { _ = flag.Set("rapid.checks", "30") } // a flag of the command line comes later

// raceEnabled says that everything is slow.
const raceEnabled = true
