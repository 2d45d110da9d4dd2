package world

import "time"

// RecordInfo is what a record of a log says of itself.
type RecordInfo struct {
	Kind    string // epoch, tick, handoff or skip
	Term    uint32
	Tick    uint64 // of a tick and a skip, the number; else of the last tick
	Time    time.Time
	Chain   [16]byte // before the record
	Input   int      // bytes, of a tick
	Program string   // of an epoch, as are the rest
	Hz      int
	Arch    string
	Go      string
}

// InspectRecord says what is in a record, for tools. It fails if rec is none.
func InspectRecord(rec []byte) (RecordInfo, error) {
	var r record
	if err := r.decode(rec); err != nil {
		return RecordInfo{}, err
	}
	return RecordInfo{
		Kind: r.kind.String(), Term: r.term, Tick: r.tick, Time: time.Unix(0, r.time), Chain: r.chain, Input: len(r.input),
		Program: r.epoch.program, Hz: int(r.epoch.hz), Arch: r.epoch.arch, Go: r.epoch.goVersion,
	}, nil
}

// InspectTrailer says what is wrong with the bytes behind a snapshot that a World
// saved, nil if they are as they were written. image.Inspect is for the rest.
func InspectTrailer(b []byte) error { return new(head).decodeTrailer(b) }
