package runner

import (
	"fmt"
	"os"
	"sync"
)

// Kinds of misuse that fail by themselves, for tests of the harness. No random
// program has them.
const (
	Crash  = "crash" // the process ends
	Hang   = "hang"
	Chance = "chance" // the outcome differs between processes
	Stray  = "stray"  // a goroutine leaks
	Racing = "racing" // data race
)

var faults = map[string]func(p *executor){
	Crash: func(*executor) {
		go panic("the program asks for it")
		// The crash comes from another goroutine, so this one waits for it.
		select {}
	},
	Hang:   func(*executor) { select {} },
	Chance: func(p *executor) { p.result.Marks = append(p.result.Marks, fmt.Sprint("process ", os.Getpid())) },
	Stray: func(*executor) {
		go func() { <-make(chan int) }()
	},
	Racing: func(*executor) {
		var both sync.WaitGroup
		n := 0
		for range 2 {
			both.Go(func() { n++ })
		}
		both.Wait()
	},
}
