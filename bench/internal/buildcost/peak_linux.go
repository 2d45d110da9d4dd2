package buildcost

import (
	"os"
	"syscall"
)

// peak returns the most memory that the process or one that it waited for had.
func peak(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return int64(usage.Maxrss) << 10
}
