package localnet

import (
	"fmt"
	"net"
	"sync"
)

// Test processes run at the same time, so each takes blocks of ports. A listener on the first port
// of a block keeps it until the process ends. All are below the system's range for port 0 and
// outgoing connections.
const (
	firstPort = 10_000
	blocks    = 500
	blockSize = 20

	// routeOffset is the distance of the port for routes. It separates groups of blocks.
	routeOffset = 2000
	groupBlocks = routeOffset / blockSize
)

var ports struct {
	mutex     sync.Mutex
	next, end int            // in the newest block
	held      []net.Listener // first ports
}

// FreePort returns a port p that no other process with this function takes. p + 2000 is free, too.
func FreePort() (int, error) {
	ports.mutex.Lock()
	defer ports.mutex.Unlock()
	for {
		if ports.next == ports.end {
			if err := takeBlock(); err != nil {
				return 0, err
			}
		}
		port := ports.next
		ports.next++
		if isFree(port) && isFree(port+routeOffset) {
			return port, nil
		}
	}
}

func takeBlock() error {
	for i := range blocks {
		port := firstPort + i/groupBlocks*2*routeOffset + i%groupBlocks*blockSize
		if l, err := listen(port); err == nil {
			ports.held = append(ports.held, l)
			ports.next, ports.end = port+1, port+blockSize
			return nil
		}
	}
	return fmt.Errorf("ports: all %d blocks are taken", blocks)
}

func listen(port int) (net.Listener, error) { return net.Listen("tcp", fmt.Sprint(host, ":", port)) }

func isFree(port int) bool {
	l, err := listen(port)
	return err == nil && l.Close() == nil
}
