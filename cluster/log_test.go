package cluster_test

import (
	"testing"

	"handloom/cluster"
	"handloom/internal/kit/logtest"
	"handloom/world"
)

func TestALogKeepsItsWord(t *testing.T) {
	t.Run("embedded", func(t *testing.T) {
		s, cell := cluster.Embedded(t.TempDir()), cluster.CellID(0)
		logtest.Run(t, func(t *testing.T) world.Log {
			cell++
			return openLog(t, s, cell, cluster.Options{Snapshots: cluster.Folder(t.TempDir())})
		})
	})
	t.Run("three servers", func(t *testing.T) {
		c, cell := startServers(t, 3), cluster.CellID(0)
		logtest.Run(t, func(t *testing.T) world.Log {
			cell++
			return openLog(t, cluster.URLs(c.URLs(0)), cell, cluster.Options{})
		})
	})
}
