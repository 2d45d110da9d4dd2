package store

import "unsafe"

// Bytes returns the memory of c: the containers of the copy, capacity included, without memory
// that Clone allocates. It takes O(shards) time.
func (c *Checkpoint) Bytes() int64 {
	n := int64(cap(c.work))*int64(unsafe.Sizeof(copyWork{})) + int64(cap(c.cost))*8
	for _, t := range c.tables {
		n += int64(unsafe.Sizeof(*t))
		for _, s := range t.shards {
			if n += shardBytes; s.Map != nil {
				n += s.Stats().Bytes
			}
		}
	}
	return n
}

// shardBytes is about the size of a copied shard without rows and slots.
const shardBytes = 512
