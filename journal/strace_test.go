package journal

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const straceEnv = "JOURNAL_STRACE_DIR"

func TestStraced_Program(t *testing.T) {
	dir := os.Getenv(straceEnv)
	if dir == "" {
		t.Skip("it is run by TestDisk_SyncsInOrder")
	}
	step := func(name string) { os.Remove(filepath.Join(filepath.Dir(dir), "step-"+name)) }
	o := Options{SegmentBytes: minSegment, background: inline}
	j := mustOpenDir(t, dir, o)
	step("append")
	mustAppend(t, j, 1, 1)
	step("segment")
	last := j.segments[0]
	at := uint64(1)
	for j.segments[len(j.segments)-1] == last {
		at++
		mustAppend(t, j, at, at)
	}
	step("save")
	noError(t, save(j, at, "state"))
	step("reject")
	noError(t, j.Reject(context.Background(), at))
	step("large")
	piece := make([]byte, snapshotPiece)
	noError(t, j.Save(context.Background(), at, func(w io.Writer) error {
		for range 20 {
			if _, err := w.Write(piece); err != nil {
				return err
			}
		}
		return nil
	}))
	step("close")
	mustClose(t, j)
	step("repair")
	noError(t, errorOf(Repair(context.Background(), dir, 2)))
	step("never")
	o.Sync = Never
	j = mustOpenDir(t, dir, o)
	first := j.segments[len(j.segments)-1]
	for at = 2; j.segments[len(j.segments)-1] == first; at++ {
		mustAppend(t, j, at, at)
	}
	step("end")
	mustClose(t, j)
}

// The calls are by step, as "name(file)".
func straced(t *testing.T) map[string][]string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("strace is of Linux")
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed:", err)
	}
	if out, err := exec.Command(strace, "-f", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("strace may not trace: %v\n%s", err, out)
	}
	parent := t.TempDir()
	dir, trace := filepath.Join(parent, "log"), filepath.Join(t.TempDir(), "trace")
	c := exec.Command(strace, "-f", "-y", "-o", trace, "-e", "trace=pwrite64,write,fsync,fdatasync,renameat,renameat2,rename,unlinkat,unlink,ftruncate",
		os.Args[0], "-test.run=^TestStraced_Program$")
	c.Env = append(os.Environ(), straceEnv+"="+dir)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b, err := os.ReadFile(trace)
	noError(t, err)
	step := "open"
	steps := map[string][]string{}
	call := regexp.MustCompile(`^\d+ +(\w+)\(`)
	path := regexp.MustCompile(`["<](` + regexp.QuoteMeta(parent) + `[^">]*)[">]`)
	for line := range strings.Lines(string(b)) {
		name, files := call.FindStringSubmatch(line), path.FindAllStringSubmatch(line, -1)
		if name == nil || len(files) == 0 {
			continue
		}
		var rel []string
		for _, f := range files {
			r := strings.TrimPrefix(strings.TrimPrefix(f[1], dir), parent)
			if r == "" && f[1] == dir {
				r = "."
			} else if r == "" {
				r = ".."
			}
			rel = append(rel, strings.TrimPrefix(r, "/"))
		}
		if s, ok := strings.CutPrefix(rel[len(rel)-1], "step-"); ok {
			step = s
			continue
		}
		steps[step] = append(steps[step], name[1]+"("+strings.Join(rel, ",")+")")
	}
	return steps
}

func wantInOrder(t *testing.T, step string, calls []string, want ...string) {
	t.Helper()
	left := calls
	for _, w := range want {
		i := slices.Index(left, w)
		if i < 0 {
			t.Errorf("%s: no %s in its place; want %s\ncalls %s", step, w, want, strings.Join(calls, "\n"))
			return
		}
		left = left[i+1:]
	}
}

// The other tests use a model of a disk; this one traces the system calls.
func TestDisk_SyncsInOrder(t *testing.T) {
	steps := straced(t)
	for step := range steps {
		for i, c := range steps[step] { // one name on all architectures
			steps[step][i] = strings.NewReplacer("renameat2(", "rename(", "renameat(", "rename(", "unlinkat(", "unlink(").Replace(c)
		}
	}
	first, second := fileName(1, segmentExt), ""
	for _, c := range steps["segment"] {
		if to, ok := strings.CutPrefix(c, "rename(next.tmp,"); ok {
			second = strings.TrimSuffix(to, ")")
		}
	}
	if second == "" {
		t.Fatal("no segment is renamed: ", steps["segment"])
	}
	at := numbered([]string{second}, segmentExt)[0]
	snap := fileName(at, snapshotExt)
	for step, want := range map[string][]string{
		"open":    {"fsync(..)", "fdatasync(next.tmp)", "pwrite64(next.tmp)", "fdatasync(next.tmp)", "rename(next.tmp," + first + ")", "fsync(.)", "pwrite64(lock)", "fdatasync(lock)"},
		"append":  {"pwrite64(" + first + ")", "fdatasync(" + first + ")"},
		"segment": {"fdatasync(next.tmp)", "rename(next.tmp," + second + ")", "fsync(.)", "fdatasync(lock)", "pwrite64(" + second + ")", "fdatasync(" + second + ")"},
		"save":    {"pwrite64(save.tmp)", "fdatasync(save.tmp)", "rename(save.tmp," + snap + ")", "fsync(.)"},
		"reject":  {"rename(" + snap + "," + fileName(at, rejectedExt) + ")", "fsync(.)"},
		"repair":  {"fdatasync(repaired-1/" + first + ")", "fsync(repaired-1)", "fsync(.)", "fdatasync(" + first + ")", "fsync(.)", "fdatasync(lock)"},
		"never":   {"pwrite64(" + first + ")", "fdatasync(" + first + ")", "fsync(.)", "fdatasync(next.tmp)", "fdatasync(" + first + ")", "rename(next.tmp,"},
	} {
		calls := steps[step]
		if step == "never" { // the name of its segment depends on the lengths of records
			calls = slices.Clone(calls)
			for i, c := range calls {
				if strings.HasPrefix(c, "rename(next.tmp,") {
					calls[i] = "rename(next.tmp,"
				}
			}
		}
		wantInOrder(t, step, calls, want...)
	}
	n := len(steps["append"])
	failIf(t, n != 2, "a record takes %d calls: %s", n, steps["append"])
	syncs := 0
	for _, c := range steps["large"] {
		if c == "fdatasync(save.tmp)" {
			syncs++
		}
	}
	failIf(t, syncs < 3, "a snapshot of 20 MiB is synced %d times, want once each 8 MiB", syncs)
}
