package store

import (
	"context"
	"fmt"

	"handloom/internal/entrance"
	"handloom/internal/items"
)

func (c *claim) Decode(ctx context.Context, input []byte) (calls [][]entrance.Command, err error) {
	p, err := c.store.enter(c.Context(ctx), opUnseal)
	if err != nil {
		return nil, err
	}
	defer p.leave()
	err = c.store.run(p, 1, func(int) (err error) {
		calls, err = c.store.batch.DecodeInput(input)
		return err
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("store: Decode: %w", err)
	}
	return calls, nil
}

func (c *claim) Encode(calls [][]entrance.Command) (input []byte, err error) {
	if input, err = c.store.batch.EncodeInput(calls); err != nil {
		return nil, fmt.Errorf("store: Encode: %w", err)
	}
	return input, nil
}

func (c *claim) Tables() (tables []entrance.Table) {
	zero := func(t *items.Type) func() any {
		return func() any {
			one := t.Make(1)
			return t.Any(one.Data())
		}
	}
	for _, t := range c.store.tables {
		table := entrance.Table{Name: t.name, TypeID: t.first, New: zero(t.typ)}
		for _, p := range t.components {
			table.Parts = append(table.Parts, entrance.Part{Name: p.name, Sparse: p.what == isSparse, New: zero(p.typ)})
		}
		tables = append(tables, table)
	}
	return tables
}
