package runner

import (
	"fmt"
	"sync/atomic"
)

// Kinds of misuse that fail by themselves, for tests of the harness. No random
// program has them.
const (
	Hang   = "hang"
	Chance = "chance" // the outcome differs between runs
	Stray  = "stray"  // a goroutine leaks
)

var runs atomic.Int64

var faults = map[string]func(p *executor){
	Hang:   func(*executor) { select {} },
	Chance: func(p *executor) { p.result.Marks = append(p.result.Marks, fmt.Sprint("run ", runs.Add(1))) },
	Stray:  func(*executor) { go stray() },
}

func stray() { <-make(chan int) }
