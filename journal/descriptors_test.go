package journal

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
)

func TestDescriptors_LackIsRefused(t *testing.T) {
	run := func(what string, tries int, full func(n int) bool) *crashDisk {
		t.Helper()
		d, l := newCrashDisk(), lives{tries: tries}
		d.full = full
		err := l.live(d, Always, death{}, units)
		for n := 1; n < tries && err != nil; n++ {
			if l.appended > 0 || errors.Is(err, ErrBroken) || !errors.Is(err, syscall.EMFILE) {
				t.Fatalf("%s: %d records, %v", what, l.appended, err)
			}
			err = l.live(d, Always, death{}, units)
		}
		if err != nil || l.durable != units {
			t.Fatalf("%s: %d records, %v", what, l.durable, err)
		}
		l.check(t, d.clone(), false, func() string { return what })
		return d
	}
	n := run("enough", 1, nil).opens
	for at := 1; at <= n; at++ {
		run(fmt.Sprintf("no descriptor at call %d of %d", at, n), 2, func(n int) bool { return n == at })
	}
	for _, every := range []int{2, 3} {
		run(fmt.Sprintf("a descriptor at one of %d calls", every), 10, func(n int) bool { return n%every != 0 })
	}
}
