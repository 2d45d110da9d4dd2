package report

import "strconv"

// Bytes returns n with three digits and a binary unit: 512 B, 1.50 KiB, 1000 MiB.
func Bytes(n int64) string {
	v, units := float64(n), []string{" B", " KiB", " MiB", " GiB", " TiB", " PiB"}
	if n < 1024 {
		return strconv.FormatInt(n, 10) + units[0]
	}
	for v >= 1023.5 && len(units) > 1 {
		v /= 1024
		units = units[1:]
	}
	return digits(v) + units[0]
}
