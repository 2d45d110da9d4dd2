package results

import (
	"bufio"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"handloom/internal/cli"
)

type Environment struct {
	Go         string
	GOOS       string
	GOARCH     string
	CPU        string
	CPUs       int
	GOMAXPROCS int
	GOGC       string
	Revision   string
	Date       string
	Seed       uint64
	Rounds     int
	BenchTime  string
}

// Here returns the environment of this process, without the settings of the
// run.
func Here() Environment {
	return Environment{
		Go: runtime.Version(), GOOS: runtime.GOOS, GOARCH: runtime.GOARCH,
		CPU: processor(), CPUs: runtime.NumCPU(), GOMAXPROCS: runtime.GOMAXPROCS(0),
		GOGC: gogc(), Revision: cli.Revision(), Date: time.Now().UTC().Format("2006-01-02T15:04Z"),
	}
}

func processor() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		key, value, _ := strings.Cut(lines.Text(), ":")
		if strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// gogc returns the setting of the collector in the form of GOGC.
func gogc() string {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	if percent := sample[0].Value.Uint64(); percent <= 1<<31 {
		return strconv.FormatUint(percent, 10)
	}
	return "off"
}
