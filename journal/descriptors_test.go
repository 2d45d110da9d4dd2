package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"
)

// A fullTable is a disk of a process without a free file descriptor at some calls.
type fullTable struct {
	*crashDisk
	opens int              // calls that take a descriptor, so far
	full  func(n int) bool // the nth such call fails
}

var errNoDescriptor = fmt.Errorf("open: %w", syscall.EMFILE)

func (d *fullTable) take() error {
	if d.opens++; d.full != nil && d.full(d.opens) {
		return errNoDescriptor
	}
	return nil
}

func (d *fullTable) create(name string) (file, error) {
	if err := d.take(); err != nil {
		return nil, err
	}
	return d.crashDisk.create(name)
}

func (d *fullTable) open(name string) (file, error) {
	if err := d.take(); err != nil {
		return nil, err
	}
	return d.crashDisk.open(name)
}

// run appends, saves and trims until all is done, and tries each call again, up to
// tries times in sequence, while it is refused.
func (d *fullTable) run(t *testing.T, tries int, what string) (refusals int) {
	t.Helper()
	ctx := context.Background()
	var j *Journal
	again := func(name string, f func() error) {
		t.Helper()
		var err error
		for n := range tries {
			if err = f(); err == nil {
				return
			}
			refusals++
			if j != nil && !errors.Is(err, ErrRefused) || errors.Is(err, ErrBroken) || !errors.Is(err, syscall.EMFILE) {
				t.Fatalf("%s, %s, try %d: %v", what, name, n, err)
			}
		}
		t.Fatalf("%s, %s: %v", what, name, err)
	}
	again("Open", func() (err error) {
		o := small(d)
		opened, err := Open("", o)
		if err == nil {
			j = opened
		}
		return err
	})
	for at := uint64(1); at <= units; at++ {
		again("Append", func() error {
			_, err := j.Append(ctx, at-1, record(at))
			return err
		})
		if at%12 == 0 {
			again("Save", func() error { return save(j, at, "state") })
		}
		if at%12 == 0 && at >= 24 {
			again("Trim", func() error { return j.Trim(ctx, at-12) })
		}
	}
	again("Load", func() error {
		r, err := j.Load(ctx, 48)
		if err != nil {
			return refused(err) // Load takes nothing, so that its error is any
		}
		_, err = io.Copy(io.Discard, r)
		return errors.Join(err, r.Close())
	})
	mustClose(t, j)
	d.full = nil
	j = mustOpen(t, small(d))
	if n, err := readAll(t, j, 36); n != units-36 || err != nil {
		t.Fatalf("%s: read %d, %v", what, n, err)
	}
	mustClose(t, j)
	return refusals
}

// A process that has no descriptor at any one call, or at each call once, or twice in
// sequence, goes on when it has one.
func TestDescriptors_LackOfOneIsRefused(t *testing.T) {
	whole := &fullTable{crashDisk: newCrashDisk()}
	whole.run(t, 1, "enough")
	n := whole.opens
	for at := 1; at <= n; at++ {
		d := &fullTable{crashDisk: newCrashDisk(), full: func(n int) bool { return n == at }}
		d.run(t, 2, fmt.Sprintf("no descriptor at call %d of %d", at, n))
	}
	for _, every := range []int{2, 3} {
		d := &fullTable{crashDisk: newCrashDisk(), full: func(n int) bool { return n%every != 0 }}
		if d.run(t, 10, fmt.Sprintf("a descriptor at one of %d calls", every)) == 0 {
			t.Error("no call was refused")
		}
	}
}
