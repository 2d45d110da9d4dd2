package main

import "handloom/store"

// tasks is how many tasks record a tick. It is the same for any number of
// workers, so that the batch is, too.
const tasks = 16

// name is what a trace calls an item.
type name struct {
	table uint16
	key   uint64
}

// task returns the task that records what happens to n. All events of one key
// belong to one task, which keeps their order; and keys that are neighbours in
// the program that was traced are spread.
func (n name) task() int {
	const odd = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	return int((n.key*odd ^ uint64(n.table)*0xff51afd7ed558ccd) * odd >> 60)
}

// item is what the stores hold. It has no padding, so that its digest is one of
// memory, and no pointers.
type item struct {
	Key     uint64
	Table   uint32
	Version uint32 // updates since it was created
	Born    uint32 // the tick that created it
	Age     uint32 // passes that have counted it since then
}

// sums are what a pass over one table adds up and the model knows beforehand.
type sums struct {
	Items, Keys, Versions, Ages uint64
}

func (a sums) plus(b sums) sums {
	return sums{a.Items + b.Items, a.Keys + b.Keys, a.Versions + b.Versions, a.Ages + b.Ages}
}

// table is one table of a trace in one store.
type table struct {
	number uint16
	items  *store.Table[item]
	sums   sums // found by the last tick
}
