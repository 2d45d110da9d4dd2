package hook

import (
	"context"
	"io"
)

// PlanReseed returns the steps of cluster.Reseed with these arguments, or its error. It does
// none of them. Package cluster sets it.
var PlanReseed func(ctx context.Context, servers, cell, options any, state io.ReadSeeker) (steps []string, err error)
