package rights

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/nats-io/nkeys"

	"handloom/cluster/cells"
)

// Options of a new configuration.
type Options struct {
	Servers []string // hosts, with a port or 4222; routes use the port plus 2000
	Cells   []cells.ID
	Dir     string // must not exist
	Etc     string // folder of its files on a server; "": where they are in Dir
	Data    string // folder of its streams on a server; "": data next to the files
}

const (
	clientPort   = 4222
	routeOffset  = 2000
	accountsFile = "accounts.conf"

	// programFolder has the user of a program that uses cluster.Join.
	programFolder = "program"
)

// A server is one of Options.Servers.
type server struct {
	Name, Host   string
	Client, Port int // of routes
	Listen       string
	Etc, Data    string
	Routes       []string // of all servers
}

// Create writes a configuration. Dir appears when it is complete.
func Create(o Options) (err error) {
	o.Dir = filepath.Clean(o.Dir)
	servers, err := o.servers()
	if err != nil {
		return err
	}
	if err := checkCells(o.Dir, o.Cells, nil); err != nil {
		return err
	}
	if _, err := os.Lstat(o.Dir); !errors.Is(err, fs.ErrNotExist) {
		return cmp.Or(err, fmt.Errorf("%s: %w: -add adds cells to it", o.Dir, fs.ErrExist))
	}
	dir, err := os.MkdirTemp(filepath.Dir(o.Dir), ".config-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := fill(dir, servers, o.Cells); err != nil {
		return err
	}
	return os.Rename(dir, o.Dir)
}

func fill(dir string, servers []server, ids []cells.ID) error {
	f := &folder{dir: dir, err: os.Mkdir(filepath.Join(dir, "cells"), 0o700)}
	nodes, routes := f.newCA("nodes"), f.newCA("routes")
	for _, s := range servers {
		f.server(s.Name, s, nodes, routes)
	}
	f.user(nodes, "operator", "operator")
	f.user(nodes, programFolder, programFolder)
	for _, id := range ids {
		f.user(nodes, "cells/"+id.String(), "cell "+id.String())
	}
	f.execute("README.txt", readme, servers)
	if f.err != nil {
		return f.err
	}
	return writeAccounts(dir)
}

func (f *folder) server(dir string, s server, nodes, routes *ca) {
	f.copy("ca/nodes.pem", dir+"/nodes-ca.pem")
	f.copy("ca/routes.pem", dir+"/routes-ca.pem")
	f.certify(nodes, dir+"/server", s.Name, s.Host, isServer)
	f.certify(routes, dir+"/route", s.Name, s.Host, isServer|isClient)
	f.execute(dir+"/server.conf", serverConf, s)
}

func (o *Options) servers() (all []server, err error) {
	if n := len(o.Servers); n != 1 && n != 3 && n != 5 {
		return nil, fmt.Errorf("servers: got %d, want 1, 3 or 5", n)
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	for i, address := range o.Servers {
		s, err := o.server(i+1, address, dir)
		if err != nil {
			return nil, err
		}
		for _, other := range all {
			if other.Host == s.Host && o.Etc+o.Data != "" {
				return nil, fmt.Errorf("server %q: host: shares folders with %s, want -etc \"\" and -data \"\"", address, other.Name)
			}
			if other.Host == s.Host && (other.Client == s.Client || other.Port == s.Client || other.Client == s.Port) {
				return nil, fmt.Errorf("server %q: ports: already used by %s", address, other.Name)
			}
		}
		all = append(all, s)
		for j := range all {
			all[j].Routes = append(all[j].Routes, s.route())
		}
		all[i].Routes = slices.Clone(all[0].Routes)
	}
	return all, nil
}

// server returns server n of the configuration in dir, an absolute path, without routes.
func (o *Options) server(n int, address, dir string) (s server, err error) {
	s = server{Name: "server-" + strconv.Itoa(n), Host: address, Client: clientPort, Listen: "0.0.0.0", Etc: o.Etc, Data: o.Data}
	if host, port, err := net.SplitHostPort(address); err == nil {
		s.Host = host
		if s.Client, err = strconv.Atoi(port); err != nil || s.Client < 1 || s.Client > 1<<16-1-routeOffset {
			return s, fmt.Errorf("server %q: port: want 1 to %d", address, 1<<16-1-routeOffset)
		}
	}
	if s.Host == "" || strings.ContainsAny(s.Host, " \t\n\"'\\/:,*$") {
		return s, fmt.Errorf("server %q: want a host name, or an IPv4 address", address)
	}
	if s.Host == "localhost" {
		s.Listen = "127.0.0.1"
	}
	if s.Port = s.Client + routeOffset; s.Etc == "" {
		s.Etc = filepath.Join(dir, s.Name)
	}
	if s.Data == "" {
		s.Data = filepath.Join(s.Etc, "data")
	}
	return s, nil
}

func (s *server) route() string { return net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) }

// A user is the owner of an account.
type user struct {
	Cell    cells.ID
	Key     string   // public
	Streams []string // of the cell
	Account string
}

func readUser(dir, name string) (user, error) {
	seed, err := os.ReadFile(filepath.Join(dir, name, "node.nkey"))
	if err != nil {
		return user{}, err
	}
	key, err := nkeys.FromSeed(bytes.TrimSpace(seed))
	if err != nil {
		return user{}, fmt.Errorf("%s/node.nkey: %w", name, err)
	}
	public, err := key.PublicKey()
	return user{Key: public}, err
}

func writeAccounts(dir string) error {
	ids, err := cellsIn(dir)
	if err != nil {
		return err
	}
	operator, err := readUser(dir, "operator")
	if err != nil {
		return err
	}
	program, err := readUser(dir, programFolder)
	if err != nil {
		return err
	}
	var users []user
	for _, id := range ids {
		u, err := readUser(dir, "cells/"+id.String())
		if err != nil {
			return err
		}
		u.Cell, u.Account, u.Streams = id, "CELL-"+id.String(), []string{id.Stream(), "OBJ_" + id.Stream(), "MAIL_" + id.Stream()}
		users = append(users, u)
	}
	servers, err := filepath.Glob(filepath.Join(dir, "server-*"))
	if err == nil && servers == nil {
		err = fmt.Errorf("%s: no folders of servers: want a folder that this command wrote", dir)
	}
	if err != nil {
		return err
	}
	var b bytes.Buffer
	// A single server reserves the limits of all accounts when it starts.
	if err := accounts.Execute(&b, map[string]any{"Operator": operator.Key, "Program": program.Key, "Cells": users, "HasLimits": len(servers) > 1}); err != nil {
		return err
	}
	for _, s := range servers {
		file := filepath.Join(s, accountsFile)
		err = errors.Join(err, os.WriteFile(file+".new", b.Bytes(), 0o600))
		if err == nil {
			err = os.Rename(file+".new", file)
		}
	}
	return err
}

//go:embed server.conf
var serverConfText string

//go:embed accounts.conf
var accountsText string

//go:embed README.txt
var readmeText string

var (
	serverConf = template.Must(template.New("server.conf").Parse(serverConfText))
	accounts   = template.Must(template.New("accounts.conf").Parse(accountsText))
	readme     = template.Must(template.New("README.txt").Parse(readmeText))
)
