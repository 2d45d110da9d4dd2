package runner

import (
	"fmt"
	"os"
	"sync"
)

// Kinds of misuse that are none of the store: they go wrong by themselves, so that
// tests see what the harness makes of it. No program is drawn with them.
const (
	Crash  = "crash"  // the process ends
	Hang   = "hang"   // the program does not
	Chance = "chance" // the outcome differs from process to process
	Stray  = "stray"  // a goroutine is left behind
	Racing = "racing" // two goroutines write one variable
)

var faults = map[string]func(p *executor){
	Crash: func(*executor) {
		go panic("the program asks for it")
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
