package rights_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"handloom/cluster/internal/rights"
)

func write(t *testing.T, dir string, hosts ...string) (fresh []rights.Server) {
	t.Helper()
	fresh, err := rights.Write(rights.Options{Servers: hosts, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return fresh
}

// files returns the contents of all files.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, want 0600", path, info.Mode())
		}
		b, failed := os.ReadFile(path)
		if failed != nil {
			return failed
		}
		all[strings.TrimPrefix(path, dir)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestWrite_ValidConfiguration(t *testing.T) {
	for _, hosts := range [][]string{{"localhost"}, {"one", "10.0.0.2:5000", "three"}} {
		dir := t.TempDir()
		write(t, dir, hosts...)
		files(t, dir)
		for _, name := range []string{"server-1", "server-3"}[:(len(hosts)+1)/2] {
			o, err := server.ProcessConfigFile(filepath.Join(dir, name, "server.conf"))
			if err != nil {
				t.Fatal(err)
			}
			if len(o.Accounts) != 2 || len(o.Users) != 2 || !o.TLSMap || !o.SyncAlways || o.JetStreamMaxStore == 0 || o.HTTPPort != 8222 || len(o.Routes) != len(hosts)/3*3 {
				t.Errorf("%s: got %+v", name, o)
			}
		}
	}
}

func TestWrite_RefusesInvalidServers(t *testing.T) {
	dir := t.TempDir()
	single, three, fresh := filepath.Join(dir, "single"), filepath.Join(dir, "three"), filepath.Join(dir, "fresh")
	write(t, single, "one")
	write(t, three, "one", "two", "three")
	for _, test := range []struct {
		o     rights.Options
		hosts string
		want  string
	}{
		{rights.Options{Dir: fresh}, "one two", "servers: got 2"},
		{rights.Options{Dir: fresh}, `one"`, "host name"},
		{rights.Options{Dir: fresh}, ":4222", "host name"},
		{rights.Options{Dir: fresh}, "one:0", "port"},
		{rights.Options{Dir: fresh}, "one:65000", "port"},
		{rights.Options{Dir: fresh}, "x:y:z", "port"},
		{rights.Options{Dir: fresh}, "one two one:6222", "2000 apart"},
		{rights.Options{Dir: fresh, Etc: "/etc"}, "one:1 two one:2", "-etc"},
		{rights.Options{Dir: fresh, Data: "/data"}, "one:1 two one:2", "-data"},
		{rights.Options{Dir: three}, "two one three", "same order"},
		{rights.Options{Dir: single}, "one two three", "no single one"},
	} {
		test.o.Servers = strings.Fields(test.hosts)
		if _, err := rights.Write(test.o); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got %v, want %q", test.o, err, test.want)
		}
	}
	if _, err := os.Stat(fresh); err == nil {
		t.Errorf("%s exists", fresh)
	}
}

func TestWrite_AddsOnlyMissingFolders(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "one", "two", "three")
	before := files(t, dir)
	if err := os.RemoveAll(filepath.Join(dir, "server-2")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, ".new-server-4/server.conf"), 0o700); err != nil { // an interrupted Write
		t.Fatal(err)
	}
	fresh := write(t, dir, "one", "two", "three", "four")
	if len(fresh) != 2 || fresh[0].Name != "server-2" || fresh[1].Host != "four" {
		t.Errorf("fresh: got %+v, want server-2, server-4", fresh)
	}
	after := files(t, dir)
	for name, text := range after {
		again := strings.HasPrefix(name, "/server-2/") || strings.HasPrefix(name, "/server-4/")
		if old, existed := before[name]; !again && (!existed || old != text) {
			t.Errorf("%s: existed %t, or has changed", name, existed)
		}
	}
	if write(t, dir, "one", "two", "three", "four"); !maps.Equal(after, files(t, dir)) {
		t.Error("a repeated Write changes files")
	}
	o, err := server.ProcessConfigFile(filepath.Join(dir, "server-4", "server.conf"))
	if err != nil || len(o.Routes) != 4 || o.Routes[3].Host != "four:6222" {
		t.Errorf("server-4: got %v, %v, want 4 routes", o, err)
	}
}
