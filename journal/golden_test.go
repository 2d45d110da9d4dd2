package journal

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files of the current version")

// goldenRecords has three records per unit.
const goldenRecords = 30

// golden returns the segments in testdata/version.
func golden(t *testing.T, version string) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", version, "*.log"))
	if err != nil || len(paths) < 2 {
		t.Fatal(paths, err)
	}
	files := map[string][]byte{}
	for _, path := range paths {
		if files[filepath.Base(path)], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func TestGolden_WrittenBytesMatch(t *testing.T) {
	d := newCrashDisk()
	o := small(d)
	o.Sync = Every(time.Hour)
	j := mustOpen(t, o)
	for at := uint64(1); at <= goldenRecords; at++ {
		if mustAppend(t, j, at, at); at%3 == 0 {
			j.onTimer()
		}
	}
	mustClose(t, j)
	if *update {
		for _, first := range j.segments {
			name := fileName(first, segmentExt)
			noError(t, os.WriteFile(filepath.Join("testdata", "v2", name), d.files[name].bytes, 0o644))
		}
	}
	files := golden(t, "v2")
	equal(t, "segments", len(j.segments), len(files))
	for name, want := range files {
		got := d.files[name]
		failIf(t, got == nil || !bytes.Equal(got.bytes, want), "%s differs from testdata", name)
	}
}

func TestGolden_EachVersionIsRead(t *testing.T) {
	for _, version := range []string{"v2"} {
		t.Run(version, func(t *testing.T) {
			d := newCrashDisk()
			for name, b := range golden(t, version) {
				d.files[name] = d.newFile(b)
			}
			d.kept = d.clone().files
			if found, n := contents(t, d); n != goldenRecords || found.Damage != nil || found.TornTail != "" {
				t.Fatalf("%d records, %+v", n, found)
			}
			for n := uint64(goldenRecords); n < 100; n += 20 {
				j := mustOpen(t, small(d))
				wantRecords(t, j, int(n))
				mustAppend(t, j, n+1, n+20)
				mustClose(t, j)
			}
			if found, n := contents(t, d); n != 110 || found.Damage != nil {
				t.Errorf("%d records, %+v", n, found)
			}
		})
	}
}
