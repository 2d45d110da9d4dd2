package main

import "handloom/store"

// tasks is the number of recording tasks, constant so that the batch is the
// same for any number of workers.
const tasks = 16

type name struct {
	table uint16
	key   uint64
}

// task returns the task of n. All events of a key belong to one task, to keep
// their order. Adjacent keys are spread.
func (n name) task() int {
	const odd = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	return int((n.key*odd ^ uint64(n.table)*0xff51afd7ed558ccd) * odd >> 60)
}

// item has no padding, so that digests read its memory, and no pointers.
type item struct {
	Key     uint64
	Table   uint32
	Version uint32 // number of updates
	Born    uint32 // tick of creation
	Age     uint32 // passes since creation
}

type sums struct {
	Items, Keys, Versions, Ages uint64
}

func (a sums) plus(b sums) sums {
	return sums{a.Items + b.Items, a.Keys + b.Keys, a.Versions + b.Versions, a.Ages + b.Ages}
}

type table struct {
	number uint16
	items  *store.Table[item]
	sums   sums
}
