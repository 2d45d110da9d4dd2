package image

import "errors"

// aheadBlocks is the number of blocks in memory: one being read, one being decoded, and one
// or two between, for blocks that take longer than others.
const aheadBlocks = 4

// queue has blocks between the goroutines that read and decode them.
type queue struct {
	read chan block  // checked blocks; closed after the last
	err  error       // ends the blocks; valid once read is closed
	free chan []byte // memory for blocks; aheadBlocks in all
	last []byte      // payload that the decoding goroutine has
	done chan struct{}
}

var errStopped = errors.New("reading has stopped")

// ReadAhead calls decode on another goroutine. Until that returns, the calling goroutine
// reads, checks and hashes the next blocks for it:
//
//	caller   | block 2 | block 3 | block 4 |   ...
//	         v         v         v
//	decode   | block 1 ... | block 2 ... | ...
//
// decode sees the blocks and errors that it would see without ReadAhead, because an error of
// a block waits until decode reads that block. If decode fails, up to aheadBlocks blocks
// after the fault were read. ReadAhead never reads past the block of the whole snapshot,
// which must be the last that decode reads. It returns when decode has returned. Only the
// calling goroutine calls the io.Reader.
func (r *Reader) ReadAhead(decode func()) {
	q := &queue{
		read: make(chan block, aheadBlocks), err: errStopped,
		free: make(chan []byte, aheadBlocks), done: make(chan struct{}),
	}
	for range aheadBlocks {
		q.free <- nil // memory is allocated when needed
	}
	r.queue = q
	go func() {
		defer close(q.done)
		decode()
	}()
	defer func() { // deferred: the io.Reader may panic or end the goroutine
		close(q.read)
		<-q.done
		r.queue = nil
	}()
	r.fill(q)
}

// fill reads blocks until one fails, the last was read, or the decoding goroutine is done.
func (r *Reader) fill(q *queue) {
	for {
		var memory []byte
		select {
		case memory = <-q.free:
		case <-q.done:
			return
		}
		if memory == nil {
			memory = make([]byte, 0, blockBytes)
		}
		b, _, err := r.readBlock(memory)
		if err != nil {
			q.err = err
			return
		}
		q.read <- b // has room for all memory
		if b.kind == blockWhole {
			return
		}
	}
}

// next returns the next block to the decoding goroutine. Its payload is valid until the next
// call.
func (q *queue) next() (block, error) {
	if q.last != nil {
		q.free <- q.last
		q.last = nil
	}
	b, ok := <-q.read
	if !ok {
		return block{}, q.err
	}
	q.last = b.payload
	return b, nil
}
