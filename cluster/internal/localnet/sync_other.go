//go:build !linux

package localnet

import (
	"errors"
	"sync/atomic"
)

func delaySyncs(*atomic.Int64) error { return errors.ErrUnsupported }
