package buildcost

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"handloom/internal/report"
)

// Sources returns the measured programs, ascending in tables.
func Sources() (all []Source) {
	for _, every := range []bool{false, true} {
		for _, tables := range []int{1, 8, 32} {
			all = append(all, Source{Tables: tables, Every: every})
		}
	}
	return append(all, Source{Tables: 8, Apart: true})
}

func Median(costs []Cost) Cost {
	return Cost{
		Source:    costs[0].Source,
		CPU:       median(costs, func(c Cost) time.Duration { return c.CPU }),
		Memory:    median(costs, func(c Cost) int64 { return c.Memory }),
		Functions: median(costs, func(c Cost) int { return c.Functions }),
		Binary:    median(costs, func(c Cost) int64 { return c.Binary }),
	}
}

func median[N cmp.Ordered](costs []Cost, get func(c Cost) N) N {
	var all []N
	for _, c := range costs {
		all = append(all, get(c))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// Write writes a table with the costs of each program, and the costs per
// additional table.
func Write(w io.Writer, costs []Cost) error {
	t := report.NewTable("program", "CPU", "memory", "functions", "binary", "a table: CPU", "functions", "binary")
	t.Left("program")
	for i, c := range costs {
		row := []string{c.String(), report.Duration(c.CPU), report.Bytes(c.Memory), report.Count(c.Functions), report.Bytes(c.Binary)}
		if i > 0 && costs[i-1].Tables < c.Tables && costs[i-1].Every == c.Every && costs[i-1].Apart == c.Apart {
			row = append(row, c.perTable(costs[i-1])...)
		} else {
			row = append(row, "", "", "")
		}
		t.Row(row...)
	}
	_, err := t.WriteTo(w)
	if err != nil {
		return fmt.Errorf("buildcost: %w", err)
	}
	return nil
}

func (c Cost) perTable(base Cost) []string {
	n := c.Tables - base.Tables
	return []string{
		report.Duration((c.CPU - base.CPU) / time.Duration(n)),
		strconv.Itoa((c.Functions - base.Functions + n/2) / n),
		report.Bytes((c.Binary - base.Binary) / int64(n)),
	}
}
