package cluster_test

import (
	"context"
	"io"
	"testing"

	"handloom/cluster"
	"handloom/proof/maptest"
)

// Calls check arguments first, so the Log need not be open.
func TestNil_IsNamed(t *testing.T) {
	ctx, none := context.Background(), context.Context(nil)
	l := cluster.PatientLog{Log: new(cluster.Log)}
	transport := l.Transport()
	for want, f := range map[string]func(){
		"cluster: Open with a nil context":      func() { _, _ = cluster.Open(none, cluster.Servers{}, 1, cluster.Options{}) },
		"cluster: Reseed with a nil context":    func() { _ = cluster.Reseed(none, cluster.Servers{}, 1, cluster.Options{}, nil) },
		"cluster: Append with a nil context":    func() { _, _ = cluster.AppendTo(none, l, 0, nil) },
		"cluster: Read with a nil context":      func() { _ = l.Read(none, 0, nil) },
		"cluster: Read with a nil function":     func() { _ = l.Read(ctx, 0, nil) },
		"cluster: Save with a nil context":      func() { _ = l.Save(none, 0, func(io.Writer) error { return nil }) },
		"cluster: Save with a nil function":     func() { _ = l.Save(ctx, 0, nil) },
		"cluster: Tail with a nil context":      func() { _, _ = l.Tail(none) },
		"cluster: Snapshots with a nil context": func() { _, _ = l.Snapshots(none) },
		"cluster: Load with a nil context":      func() { _, _ = l.Load(none, 0) },
		"cluster: Reject with a nil context":    func() { _ = l.Reject(none, 0) },
		"cluster: Trim with a nil context":      func() { _ = l.Trim(none, 0) },
		"cluster: StepDown with a nil context":  func() { _, _ = l.StepDown(none) },
		"cluster: Send with a nil context":      func() { _ = transport.Send(none, 1, 2, "", nil) },
		"cluster: Receive with a nil function":  func() { _ = transport.Receive(ctx, 1, "", nil) },
		"cluster: Serve with a nil World":       func() { _ = l.Serve(ctx, nil, nil) },
		"cluster: Dial with a nil context":      func() { _, _ = cluster.Dial(none, cluster.Servers{}) },
		"cluster: Join with a nil context":      func() { _, _ = cluster.Join(none, cluster.Servers{}, cluster.Host{}) },
		"cluster: Join with a nil Host.Open":    func() { _, _ = cluster.Join(ctx, cluster.Servers{}, cluster.Host{}) },
		"cluster: Run with a nil context":       func() { _ = new(cluster.Node).Run(none) },
		"cluster: Place with a nil context":     func() { _ = new(cluster.Node).Place(none, 1, 1) },
		"cluster: Call with a nil context":      func() { _, _ = new(cluster.Client).Call(none, 1, nil) },
	} {
		if got := maptest.PanicOf(f); got != want+"; give one" {
			t.Errorf("got panic %v, want %s; give one", got, want)
		}
	}
}
