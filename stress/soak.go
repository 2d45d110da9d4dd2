package main

import "context"

func (p *program) soak(context.Context, harnessing) int { return exitBad }
