package nemesis

import (
	"io"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"handloom/cluster"
	"handloom/cluster/internal/localnet"
)

// Saves leave two objects, and each mutant of the bucket is found.
func TestCheckBucket_FindsMutants(t *testing.T) {
	for mutant, want := range map[string]string{
		"": "", directBucket: "any replica answers: true", namedSnapshots: "bucket: 3 objects", orphanChunks: ".C.left400",
	} {
		t.Run(mutant, func(t *testing.T) {
			c, err := localnet.Start(t.Context(), t.TempDir(), 1, nil)
			failIf(t, err)
			defer c.Close()
			l, err := cluster.Open(t.Context(), cluster.URLs(c.URLs(0)), cell, cluster.Options{Replicas: 1})
			failIf(t, err)
			defer l.Close()
			conn, err := nats.Connect(c.URL(0))
			failIf(t, err)
			defer conn.Close()
			js, err := jetstream.New(conn)
			failIf(t, err)
			f := &run{Options: Options{Seed: 1, Mutant: mutant}, Fleet: &localnet.Fleet{JS: js}}
			for at := range uint64(4) {
				failIf(t, l.Save(t.Context(), at, func(w io.Writer) error {
					_, err := io.WriteString(w, "state")
					return err
				}))
			}
			failIf(t, f.spoil(t.Context()))
			failIf(t, f.checkBucket(t.Context()))
			found := f.auditor.Findings()
			if f.bad() != (want != "") || !strings.Contains(strings.Join(found.Faults, "\n"), want) {
				t.Errorf("faults %q, want %q", found.Faults, want)
			}
		})
	}
}

// The errors of saves are kept until the next save.
func TestReceive_KeepsSaveError(t *testing.T) {
	f, n := &run{}, &localnet.Member{Name: "n0"}
	f.Fleet = &localnet.Fleet{Nodes: []*localnet.Member{{Name: "n1", Index: 1}, n}}
	for _, c := range [][2]string{{"save no room", "n0: no room"}, {"status true 1 2 0", "n0: no room"}, {"save ", ""}, {"save gone", "n0: gone"}, {"open", ""}} {
		f.receive(n, c[0])
		if got := f.saveErr(); got != c[1] || f.bad() {
			t.Errorf("after %q: %q, want %q", c[0], got, c[1])
		}
	}
}

func failIf(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
