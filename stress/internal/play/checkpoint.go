package play

import (
	"context"

	"handloom/stress/internal/program"
)

type checkpoint struct{}

func (p *player) takeCheckpoint(context.Context, int) {}

func (p *player) rollback(context.Context, int) {}

func (p *player) schedule(context.Context, *program.Step) {}
