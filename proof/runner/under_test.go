package runner

import "testing"

func TestDiffer_ComparesAllMarks(t *testing.T) {
	for _, tt := range []struct {
		a, b []string
		want string
	}{
		{nil, nil, ""},
		{[]string{"x", "y"}, []string{"x", "y"}, ""},
		{[]string{"x", "y"}, []string{"x", "z"}, `mark 1 is "y" and "z"`},
		{[]string{"x"}, []string{"x", "y"}, "there are 1 and 2 marks"},
	} {
		if got := Differ(tt.a, tt.b); got != tt.want {
			t.Errorf("%q and %q: %q; want %q", tt.a, tt.b, got, tt.want)
		}
	}
}
