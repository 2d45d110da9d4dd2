package main

import (
	"context"
	"fmt"
	"io"

	"handloom/handle"
	"handloom/internal/trace"
	"handloom/proof/script"
)

// tasks is the number of recording tasks, constant so that the batch is the
// same for any number of workers.
const tasks = 16

type key struct {
	table uint16
	key   uint64
}

// task returns the task of k. All events of a key belong to one task, to keep
// their order. Adjacent keys are spread.
func (k key) task() int {
	const odd = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	return int((k.key*odd ^ uint64(k.table)*0xff51afd7ed558ccd) * odd >> 60)
}

// life is a live key: the name of its item and the tick of its create.
type life struct{ name, born int }

// recording is a trace as a program.
type recording struct {
	script        script.Script
	shards        int
	tables        map[uint16]int // index in the script
	live          map[key]life
	items         int // names so far
	ticks, events int
}

// record reads a trace to its end.
func record(ctx context.Context, in io.Reader, name string, shards int) (*recording, error) {
	r := &recording{shards: shards, tables: make(map[uint16]int), live: make(map[key]life)}
	reader, err := trace.NewReader(in, name)
	if err != nil {
		return r, err
	}
	checker := trace.NewChecker(name)
	for events, err := range reader.Ticks() {
		if err == nil {
			err = checker.CheckBatch(events)
		}
		for _, e := range events {
			if t := r.table(e.Table); err == nil && (t+1)*shards > handle.MaxTypeID {
				err = &trace.Error{File: name, Line: e.Line, Reason: fmt.Sprintf("table %d does not fit: the typeIds end at %d", e.Table, handle.MaxTypeID)}
			}
		}
		if err != nil || ctx.Err() != nil {
			return r, err
		}
		r.tick(events)
	}
	if r.ticks == 0 {
		return r, &trace.Error{File: name, Line: 1, Reason: "the trace is empty: nothing follows its first line"}
	}
	return r, nil
}

func (r *recording) table(number uint16) int {
	at, ok := r.tables[number]
	if !ok {
		at = len(r.script.Tables)
		r.tables[number] = at
		r.script.Tables = append(r.script.Tables, script.Table{Name: fmt.Sprint("t", number), Kind: script.Packed, Item: script.Word, Shards: r.shards})
	}
	return at
}

// tick adds the steps of a tick. Every other tick is one Frame.
func (r *recording) tick(events []trace.Event) {
	r.ticks++
	var steps []script.Step
	for t := range r.script.Tables {
		steps = append(steps, script.Step{Op: script.ForEach, Table: t}.Set("add", 1))
	}
	pass := script.Step{Op: script.Each}.Set("tasks", tasks)
	for _, e := range events {
		pass.Body = append(pass.Body, r.command(e))
	}
	steps = append(steps, pass, script.Step{Op: script.Flush})
	for t := range r.script.Tables {
		steps = append(steps, script.Step{Op: script.Reduce, Table: t})
	}
	if r.ticks%2 == 0 {
		steps = []script.Step{{Op: script.Write, Body: steps}}
	}
	r.script.Steps = append(r.script.Steps, steps...)
}

// command returns the command of an event. An update of an item of the same tick
// is a put if the key is even, and completes the staged value if it is odd.
func (r *recording) command(e trace.Event) script.Step {
	r.events++
	k := key{e.Table, e.Key}
	s := script.Step{Table: r.table(e.Table), Task: k.task()}
	l := r.live[k]
	switch e.Kind {
	case trace.Create:
		r.items++
		r.live[k] = life{r.items, r.ticks}
		s.Op, s.Name, s.N = script.Emplace, r.items, 1
		return s.Set("v", r.events)
	case trace.Update:
		s.Op, s.Refs = script.Put, []script.Ref{{N: l.name}}
		if l.born == r.ticks && e.Key%2 == 1 {
			s.Op = script.Staged
		}
		return s.Set("v", r.events)
	}
	delete(r.live, k)
	s.Op, s.Refs = script.Erase, []script.Ref{{N: l.name}}
	return s
}
