package nemesis

import (
	"context"
	"path/filepath"
	"strconv"
	"time"

	"handloom/cluster"
	"handloom/cluster/internal/audit"
	"handloom/journal"
	"handloom/proof/process"
	"handloom/world"
)

const cell cluster.CellID = 1

// Node is a node of the cell, for [localnet.Child]. words are: folder, workers, server URLs, folder
// of snapshots or none.
func Node(ctx context.Context, c *process.Child, words []string) error {
	workers, err := strconv.Atoi(words[1])
	if err != nil {
		return err
	}
	open := func(context.Context, cluster.CellID) (*cluster.Cell, error) {
		j, err := journal.Open(filepath.Join(words[0], "journal"), journal.Options{Sync: journal.Every(time.Second), SegmentBytes: 1 << 20})
		if err != nil {
			return nil, err
		}
		s, requests, o := newGame(workers, func(r audit.TickResult) { c.Logf("tick %d %d", r.Number, r.Digest) })
		serve := func(ctx context.Context, w *world.World, call cluster.Call) (reply []byte, err error) {
			key, err := strconv.ParseUint(string(call.Body), 10, 64)
			if err == nil {
				key, err = requests.Submit(ctx, w, call.Key, key)
			}
			return strconv.AppendUint(nil, key, 10), err
		}
		return &cluster.Cell{Store: s, World: o, Log: logOptions(j, words[3]), Serve: serve, Close: j.Close}, nil
	}
	return Host(ctx, c, words[2], cell, cluster.Host{Name: filepath.Base(words[0]), Copies: 3, Open: open})
}

// logOptions returns options with a journal, which may be nil, and a folder of snapshots, or "".
func logOptions(j *journal.Journal, snapshots string) cluster.Options {
	o := cluster.Options{Journal: j}
	if snapshots != "" {
		o.Snapshots = cluster.Folder(snapshots)
	}
	return o
}
