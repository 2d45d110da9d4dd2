package results

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"
)

// WriteCSV writes a line for each case, the first of them the names of the
// columns. An interval that is not known is left empty.
func (r *Run) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	lines := [][]string{{"op", "impl", "n", "size", "workers", "unit", "rounds", "median", "low", "high", "ratio", "beside", "apart", "partial"}}
	for _, group := range r.Groups() {
		for _, result := range group {
			s := result.Summary()
			line := []string{
				result.Op, result.Impl, strconv.Itoa(result.N), strconv.Itoa(result.Size), strconv.Itoa(result.Workers),
				string(result.Unit), strconv.Itoa(len(result.Samples)), number(s.Median), number(s.Low), number(s.High),
			}
			if beside := Reference(group, result); beside != nil {
				ratio := RatioOf(result, beside)
				line = append(line, number(ratio.Median), beside.Name(), strconv.FormatBool(ratio.Apart))
			} else {
				line = append(line, "", "", "")
			}
			lines = append(lines, append(line, strconv.FormatBool(r.Partial)))
		}
	}
	return out.WriteAll(lines)
}

func number(v float64) string {
	if math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}
