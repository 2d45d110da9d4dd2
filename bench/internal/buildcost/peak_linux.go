package buildcost

import (
	"os"
	"syscall"
)

// peak returns the peak memory of the process or of one of its children.
func peak(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return int64(usage.Maxrss) << 10
}
