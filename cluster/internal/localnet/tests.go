package localnet

import (
	"fmt"
	"os"
	"time"
)

// RunTests runs tests and returns the exit code. leaks fails while goroutines remain, for two
// minutes: servers and connections end after their Close, later on a busy machine.
func RunTests(m interface{ Run() int }, leaks func() error) (exit int) {
	exit = m.Run()
	for late := time.Now().Add(2 * time.Minute); exit == 0; {
		err := leaks()
		if err == nil {
			break
		}
		if time.Now().After(late) {
			fmt.Fprintln(os.Stderr, err)
			exit = 1
		}
	}
	return exit
}
