package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

func TestBuildFlags_GiveTheSameProgram(t *testing.T) {
	for _, tt := range []struct {
		settings map[string]string
		want     []string
	}{
		{nil, nil},
		{map[string]string{"-race": "false", "-tags": ""}, nil},
		{map[string]string{"-race": "true"}, []string{"-race"}},
		{map[string]string{"-tags": "a,b", "-ldflags": "-s"}, []string{"-tags", "a,b"}},
		{map[string]string{"-tags": "a", "-race": "true"}, []string{"-race", "-tags", "a"}},
	} {
		if got := flags(tt.settings); !slices.Equal(got, tt.want) {
			t.Errorf("flags(%v) = %q, want %q", tt.settings, got, tt.want)
		}
	}
}

func TestRevision_ComesFromGit(t *testing.T) {
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x"}, args...)...).Output()
		if err != nil {
			t.Skip("no git that works: ", err)
		}
		return string(out)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	if got := fromGit(); got != "unknown" {
		t.Errorf("outside of a repository: %q", got)
	}
	file := filepath.Join(dir, "file")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("1")
	git("init", "-q")
	git("add", "file")
	git("commit", "-q", "-m", "x")
	head := git("rev-parse", "HEAD")[:12]
	if got := fromGit(); got != head {
		t.Errorf("got %q, want %q", got, head)
	}
	write("2")
	if got := fromGit(); got != head+"+" {
		t.Errorf("got %q, want %q", got, head+"+")
	}
}
