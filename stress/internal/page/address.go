package page

import (
	"fmt"
	"net"
	"net/netip"
)

// resolve returns the address to listen on. It refuses one that other machines
// can reach, unless public says that this is meant.
func resolve(address string, public bool) (*net.TCPAddr, error) {
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	if !public && !a.IP.IsLoopback() { // no address at all means every interface
		return nil, fmt.Errorf("%s is not a loopback address, so other machines could reach the page; take 127.0.0.1:PORT, or say -http-public", address)
	}
	return a, nil
}

// localHost reports whether the Host header of a request names this machine, so
// that a page from elsewhere cannot read this one through a name of its own that
// leads here.
func localHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(trimBrackets(host))
	return err == nil && ip.Unmap().IsLoopback()
}

func trimBrackets(host string) string {
	if n := len(host); n > 1 && host[0] == '[' && host[n-1] == ']' {
		return host[1 : n-1]
	}
	return host
}
