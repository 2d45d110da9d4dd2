// Command player plays programs, and that alone: a build of it takes less than one
// of the whole harness.
package main

import (
	"os"

	"handloom/stress/internal/child"
)

func main() { child.Serve(os.Stdin, os.Stdout) }
