// Package rights writes the configuration of the NATS servers of a program: two authorities,
// certificates, and one account for all nodes, cells and clients of the program.
//
//	ca/         keys that sign certificates; for the operator alone
//	server-1/   for the first server: server.conf and certificates
//	program/    for the nodes and clients: certificate and key of the user of the account
//	operator/   certificate and key of the user of the system account
//
// The user of a connection is the subject of its certificate. Routes between servers need a
// certificate of another authority, so a node cannot act as a server.
package rights

import (
	"bytes"
	"cmp"
	"crypto/x509"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

// Options of a configuration.
type Options struct {
	Servers []string // hosts, with a port or 4222; routes use the port plus 2000, monitoring plus 4000
	Dir     string   // created if it is missing
	Etc     string   // folder of a server's files on its machine; "": where they are in Dir
	Data    string   // folder of a server's streams on its machine; "": data next to the files
}

const (
	nextPort = 2000 // distance of the ports for routes and for monitoring
	maxPort  = 1<<16 - 1 - 2*nextPort
)

// A Server is one of Options.Servers.
type Server struct {
	Name, Host, Listen, Etc, Data string
	Port, RoutePort, Monitor      int
	Address, Route                string   // for clients and for servers
	Routes                        []string // of all servers
}

//go:embed server.conf
var serverConfText string

var serverConf = template.Must(template.New("server.conf").Parse(serverConfText))

// Write writes the folders that are missing in o.Dir, and returns the servers with a new folder.
// It changes no existing folder: to add a server, or to repeat an interrupted call, call it with
// all servers in the same order; for new files, remove their folder first.
func Write(o Options) (fresh []Server, err error) {
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, err
	}
	all, err := o.servers()
	if err != nil {
		return nil, err
	}
	f := &folder{dir: o.Dir}
	f.once("ca", func(dir string) {
		f.certify("", dir+"/nodes", "handloom nodes", "")
		f.certify("", dir+"/routes", "handloom routes", "")
	})
	for _, user := range []string{"operator", "program"} {
		f.once(user, func(dir string) {
			f.copy("ca/nodes.pem", dir+"/ca.pem")
			f.certify("ca/nodes", dir+"/node", user, "", x509.ExtKeyUsageClientAuth)
		})
	}
	for _, s := range all {
		f.once(s.Name, func(dir string) {
			fresh = append(fresh, s)
			f.copy("ca/nodes.pem", dir+"/nodes-ca.pem")
			f.copy("ca/routes.pem", dir+"/routes-ca.pem")
			f.certify("ca/nodes", dir+"/server", s.Name, s.Host, x509.ExtKeyUsageServerAuth)
			f.certify("ca/routes", dir+"/route", s.Name, s.Host, x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth)
			var conf bytes.Buffer
			f.err = errors.Join(f.err, serverConf.Execute(&conf, &s))
			f.write(dir+"/server.conf", conf.Bytes())
		})
	}
	return fresh, f.err
}

func (o *Options) servers() (all []Server, err error) {
	if n := len(o.Servers); n == 0 || n == 2 {
		return nil, fmt.Errorf("servers: got %d, want 1, 3 or more", n)
	}
	var routes []string
	for i, address := range o.Servers {
		s, err := o.server(i+1, address)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(other Server) bool {
			return other.Host == s.Host && (o.Etc+o.Data != "" || (other.Port-s.Port)%nextPort == 0)
		}) {
			return nil, fmt.Errorf("server %q: got its host twice, want ports other than 2000 apart, -etc \"\" and -data \"\"", address)
		}
		all, routes = append(all, s), append(routes, s.Route)
	}
	for i := range all {
		all[i].Routes = routes
		err = errors.Join(err, all[i].check(o.Dir))
	}
	return all, err
}

// server returns server n, without routes.
func (o *Options) server(n int, address string) (Server, error) {
	if !strings.Contains(address, ":") {
		address += ":4222"
	}
	host, text, _ := net.SplitHostPort(address)
	port, err := strconv.Atoi(text)
	if err != nil || port < 1 || port > maxPort || host == "" || strings.ContainsAny(host, " \t\n\"'\\/:,*$") {
		return Server{}, fmt.Errorf("server %q: want a host name or an IPv4 address, and a port from 1 to %d or none", address, maxPort)
	}
	s := Server{Name: "server-" + strconv.Itoa(n), Host: host, Listen: "0.0.0.0", Port: port, RoutePort: port + nextPort, Monitor: port + 2*nextPort}
	s.Address, s.Route = net.JoinHostPort(host, strconv.Itoa(port)), net.JoinHostPort(host, strconv.Itoa(s.RoutePort))
	if host == "localhost" {
		s.Listen = "127.0.0.1"
	}
	s.Etc = cmp.Or(o.Etc, filepath.Join(o.Dir, s.Name))
	s.Data = cmp.Or(o.Data, filepath.Join(s.Etc, "data"))
	return s, nil
}

// check returns an error if dir has a folder of this name for another server, or for one without
// routes.
func (s *Server) check(dir string) error {
	conf, err := os.ReadFile(filepath.Join(dir, s.Name, "server.conf"))
	if os.IsNotExist(err) {
		return nil
	}
	routes := len(s.Routes) == 1 || bytes.Contains(conf, []byte("nats-route://"))
	if err == nil && (!routes || !bytes.Contains(conf, fmt.Appendf(nil, "client_advertise: %q", s.Address))) {
		err = fmt.Errorf("server %q: %s has another %s, want all servers in the same order, and no single one; or another -dir", s.Address, dir, s.Name)
	}
	return err
}
