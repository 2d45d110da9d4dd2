package maptest

import (
	"strings"
	"testing"
)

// All faults are reported at once, not only the first.
func (s suite) New_NamesEveryInvalidOption(t *testing.T) {
	SetWidths(t, 7, 16)
	for _, bad := range []struct {
		options Options
		faults  []string
	}{
		{Options{TypeID: 32768}, []string{"TypeID 32768 is outside 0..32767"}},
		{Options{TypeID: -1}, []string{"TypeID -1"}},
		{Options{Reserve: -1}, []string{"Reserve -1"}},
		{Options{Reserve: 17}, []string{"Reserve 17 is outside 0..16"}},
		{Options{MinFree: -1}, []string{"MinFree -1"}},
		{Options{MinFree: 17}, []string{"MinFree 17"}},
		{Options{MaxItems: -1}, []string{"MaxItems -1"}},
		{Options{MaxItems: 17}, []string{"MaxItems 17"}},
		{Options{Reserve: 5, MaxItems: 4}, []string{"Reserve 5 exceeds MaxItems 4"}},
		{Options{TypeID: -1, Reserve: -1, MinFree: -1, MaxItems: -1}, []string{"TypeID -1", "Reserve -1", "MinFree -1", "MaxItems -1"}},
	} {
		m, err := s.Numbers.New(bad.options)
		if err == nil || m != nil {
			t.Fatalf("%+v is accepted", bad.options)
		}
		for _, fault := range bad.faults {
			if !strings.Contains(err.Error(), fault) {
				t.Errorf("%+v: %q does not say %q", bad.options, err, fault)
			}
		}
	}
}
