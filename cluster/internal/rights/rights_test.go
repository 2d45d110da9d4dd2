package rights_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"handloom/cluster/cells"
	"handloom/cluster/internal/rights"
)

func create(t *testing.T, hosts ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "config")
	if err := rights.Create(rights.Options{Servers: hosts, Cells: []cells.ID{7, 8}, Dir: dir}); err != nil {
		t.Fatal(err)
	}
	return dir
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

func TestCreate_WritesValidConfiguration(t *testing.T) {
	for _, hosts := range [][]string{{"localhost"}, {"one", "10.0.0.2:5000", "three"}} {
		dir := create(t, hosts...)
		files(t, dir)
		for i := range hosts {
			o, err := server.ProcessConfigFile(filepath.Join(dir, "server-"+string(rune('1'+i)), "server.conf"))
			if err != nil {
				t.Fatal(err)
			}
			if len(o.Accounts) != 4 || len(o.Nkeys) != 4 || len(o.Users) != 0 || !o.SyncAlways {
				t.Errorf("%d accounts, %d keys, %d users, sync_always %t", len(o.Accounts), len(o.Nkeys), len(o.Users), o.SyncAlways)
			}
		}
	}
}

func TestCreate_OneServerKeepsStreamsOfItsAccounts(t *testing.T) {
	o, err := server.ProcessConfigFile(filepath.Join(create(t, "localhost"), "server-1", "server.conf"))
	if err != nil {
		t.Fatal(err)
	}
	o.Port, o.JetStreamMaxStore, o.JetStreamMaxMemory, o.NoLog, o.NoSigs = server.RANDOM_PORT, 1<<20, 1<<20, true, true // a small machine
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer s.WaitForShutdown()
	defer s.Shutdown()
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("the server does not start")
	}
	for _, id := range []cells.ID{7, 8} {
		a, err := s.LookupAccount("CELL-" + id.String())
		if err != nil || !a.JetStreamEnabled() {
			t.Errorf("account of cell %v: got %v, want JetStream", id, err)
		}
	}
}

func TestCreate_TakesAnyNameOfDirAndNoCells(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"config/", "./other/../some//"} {
		err := rights.Create(rights.Options{Servers: []string{"one"}, Dir: dir})
		if err == nil {
			err = rights.Add(rights.Options{Dir: dir, Cells: []cells.ID{7}})
		}
		if err != nil {
			t.Error(err)
		}
	}
}

func TestCreate_RefusesInvalidOptions(t *testing.T) {
	used := create(t, "one")
	fresh := filepath.Join(t.TempDir(), "config")
	for _, test := range []struct {
		o    rights.Options
		want string
	}{
		{rights.Options{Dir: fresh}, "servers: got 0"},
		{rights.Options{Dir: fresh, Servers: []string{"one", "two"}}, "servers: got 2"},
		{rights.Options{Dir: fresh, Servers: []string{`one"`}}, "host name"},
		{rights.Options{Dir: fresh, Servers: []string{""}}, "host name"},
		{rights.Options{Dir: fresh, Servers: []string{"one:0"}}, "port"},
		{rights.Options{Dir: fresh, Servers: []string{"one:65000"}}, "port"},
		{rights.Options{Dir: fresh, Servers: []string{"one", "two", "one:6222"}}, "already used"},
		{rights.Options{Dir: fresh, Servers: []string{"one:1", "two", "one:2"}, Etc: "/etc"}, "shares folders"},
		{rights.Options{Dir: fresh, Servers: []string{"one:1", "two", "one:2"}, Data: "/data"}, "shares folders"},
		{rights.Options{Dir: fresh, Servers: []string{"one"}, Cells: []cells.ID{7, 7}}, "cell 0000000000000007"},
		{rights.Options{Dir: fresh, Servers: []string{"one"}, Cells: []cells.ID{0}}, "cell 0000000000000000"},
		{rights.Options{Dir: used, Servers: []string{"one"}}, "-add"},
		{rights.Options{Dir: fresh + "/none/config", Servers: []string{"one"}}, "no such file"},
	} {
		if err := rights.Create(test.o); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got %v, want %q", test.o, err, test.want)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(fresh)); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestAdd_AddsProgramToOlderFolder(t *testing.T) {
	dir := create(t, "one")
	if err := os.RemoveAll(filepath.Join(dir, "program")); err != nil {
		t.Fatal(err)
	}
	if err := rights.Add(rights.Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	o, err := server.ProcessConfigFile(filepath.Join(dir, "server-1", "server.conf"))
	if err != nil || len(o.Nkeys) != 4 || files(t, dir)["/program/node.nkey"] == "" {
		t.Errorf("got %d keys, %v, want 4, and the files of the program", len(o.Nkeys), err)
	}
}

func TestAdd_ReplacesOnlyAccounts(t *testing.T) {
	dir := create(t, "one", "two", "three")
	before := files(t, dir)
	for _, id := range []cells.ID{0, 7} {
		if err := rights.Add(rights.Options{Dir: dir, Cells: []cells.ID{id}}); err == nil {
			t.Errorf("Add of cell %v succeeds", id)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "cells/.new-0000000000000009/node.pem"), 0o700); err != nil { // an interrupted Add
		t.Fatal(err)
	}
	if err := rights.Add(rights.Options{Dir: dir, Cells: []cells.ID{9}}); err != nil {
		t.Fatal(err)
	}
	after := files(t, dir)
	for name, text := range after {
		switch old, existed := before[name]; {
		case filepath.Base(name) == "accounts.conf":
			if !strings.Contains(text, "CELL-0000000000000009") || text != after["/server-1/accounts.conf"] {
				t.Errorf("%s: lacks cell 9, or differs from other servers", name)
			}
		case existed != !strings.HasPrefix(name, "/cells/0000000000000009/") || existed && old != text:
			t.Errorf("%s: existed %t, changed %t", name, existed, old != text)
		}
	}
	if err := rights.Add(rights.Options{Dir: dir, Servers: []string{"four", "five"}}); err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"one", "five", "x:y:z"} {
		if err := rights.Add(rights.Options{Dir: dir, Servers: []string{host}}); err == nil {
			t.Errorf("Add of server %s succeeds", host)
		}
	}
	for name, old := range after {
		if text := files(t, dir)[name]; text != old {
			t.Errorf("%s: Add of servers changed it", name)
		}
	}
	o, err := server.ProcessConfigFile(filepath.Join(dir, "server-5", "server.conf"))
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Routes) != 5 || o.Routes[4].Host != "five:6222" || len(o.Accounts) != 5 {
		t.Errorf("server-5: got routes %v, %d accounts, want 5 and 5", o.Routes, len(o.Accounts))
	}
	for _, missing := range []string{"cells/0000000000000007/node.nkey", "ca/nodes.key", "operator"} {
		if err := os.RemoveAll(filepath.Join(dir, missing)); err != nil {
			t.Fatal(err)
		}
		if err := rights.Add(rights.Options{Dir: dir, Cells: []cells.ID{10}}); err == nil {
			t.Errorf("Add without %s succeeds", missing)
		}
	}
}
