//go:build !linux

package localnet

import (
	"errors"
	"time"
)

func delaySyncs(func() time.Duration) error { return errors.ErrUnsupported }
