package rights

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"handloom/cluster/cells"
)

// Add adds cells and servers to the configuration in o.Dir, and writes the accounts of every
// server again: copy them, and reload the servers. After an interrupt, call it again without
// the names that exist.
func Add(o Options) error {
	existing, err := cellsIn(o.Dir)
	if err != nil {
		return err
	}
	if err := checkCells(o.Dir, o.Cells, existing); err != nil {
		return err
	}
	f := &folder{dir: o.Dir}
	nodes := f.readCA("nodes")
	for _, address := range o.Servers {
		f.err = cmp.Or(f.err, f.addServer(o, address, nodes))
	}
	if _, err := os.Stat(filepath.Join(o.Dir, programFolder)); errors.Is(err, fs.ErrNotExist) { // written by an older version
		f.add(".new-"+programFolder, programFolder, func(fresh string) { f.user(nodes, fresh, programFolder) })
	}
	for _, id := range o.Cells {
		name := "cells/" + id.String()
		f.add("cells/.new-"+id.String(), name, func(fresh string) { f.user(nodes, fresh, "cell "+id.String()) })
	}
	if f.err != nil {
		return f.err
	}
	return writeAccounts(o.Dir)
}

// add writes a folder with another name first, which may exist since an interrupted call.
func (f *folder) add(fresh, name string, write func(fresh string)) {
	if f.err == nil {
		f.err = os.RemoveAll(filepath.Join(f.dir, fresh))
	}
	write(fresh)
	if f.err == nil {
		f.err = os.Rename(filepath.Join(f.dir, fresh), filepath.Join(f.dir, name))
	}
}

var routeText = regexp.MustCompile(`nats-route://([^"]+)"`)

// addServer adds a server with routes to all others, which learn its address from it.
func (f *folder) addServer(o Options, address string, nodes *ca) error {
	dir, err := filepath.Abs(f.dir)
	if err != nil {
		return err
	}
	folders, err := filepath.Glob(filepath.Join(dir, "server-*"))
	if err != nil {
		return err
	}
	last, known := 0, []string(nil)
	for _, s := range folders {
		n, _ := strconv.Atoi(strings.TrimPrefix(filepath.Base(s), "server-"))
		conf, err := os.ReadFile(filepath.Join(s, "server.conf"))
		if err != nil {
			return err
		}
		for _, match := range routeText.FindAllStringSubmatch(string(conf), -1) {
			known = append(known, match[1])
		}
		last = max(last, n)
	}
	if known == nil {
		return fmt.Errorf("server %q: %s: got routes of no server, want 3 or more servers", address, f.dir)
	}
	s, err := o.server(last+1, address, dir)
	if err != nil {
		return err
	}
	slices.Sort(known)
	for _, other := range slices.Compact(known) {
		host, _, _ := strings.Cut(other, ":")
		if other == s.route() || host == s.Host && o.Etc+o.Data != "" {
			return fmt.Errorf("server %q: shares folders or port with %s, want another host", address, other)
		}
		s.Routes = append(s.Routes, other)
	}
	s.Routes = append(s.Routes, s.route())
	routes := f.readCA("routes")
	f.add(".new-"+s.Name, s.Name, func(fresh string) { f.server(fresh, s, nodes, routes) })
	return f.err
}

func checkCells(dir string, ids, existing []cells.ID) error {
	for i, id := range ids {
		switch {
		case id == 0 || slices.Contains(ids[:i], id):
			return fmt.Errorf("cell %v: got it twice, or 0", id)
		case slices.Contains(existing, id):
			return fmt.Errorf("cell %v: got files of it in %s: -add without -cells writes accounts.conf again, "+
				"as after an interrupt; for new files, remove cells/%v first", id, dir, id)
		}
	}
	return nil
}

// cellsIn returns the cells of a configuration, in ascending order.
func cellsIn(dir string) (ids []cells.ID, err error) {
	entries, err := os.ReadDir(filepath.Join(dir, "cells"))
	for _, e := range entries {
		if id, err := cells.ParseID(e.Name()); err == nil {
			ids = append(ids, id)
		}
	}
	return ids, err
}
