package runner

import (
	"fmt"
	"slices"

	"handloom/proof/model"
	"handloom/store"
)

// clone copies the map and lets the copy go its own way, as a model of the shard
// alone does.
func (y *writing) clone() {
	c, digest, err := y.m.copied()
	if want := y.m.Digest(); digest != want || err != nil {
		y.fail(Model, "a clone has digest %016x, %v; want %016x", digest, err, want)
	}
	alone := y.x.Clone()
	alone.Seen = nil
	if err := y.evolve(c, alone); err != nil {
		y.fail(Model, "a clone %v", err)
		return
	}
	if err := c.Verify(); err != nil {
		y.fail(Invariant, "a clone: %v", err)
	}
	y.sameHandles(c.rows(), alone.Handles(), "a clone")
	y.varyEach(c)
	y.want(y.m.Digest() == digest, "a clone changed, and with it the digest of the map from %016x to %016x", digest, y.m.Digest())
}

// varyEach changes the fields of an item of a clone one by one and sees that the
// digest tells.
func (y *writing) varyEach(c boundMap) {
	rows, before := c.rows(), c.Digest()
	if len(rows) == 0 {
		return
	}
	for field := 0; c.vary(rows[0], field); field++ {
		after := c.Digest()
		y.want(after != before, "field %d of %s changed, and the digest is still %016x", field, model.Text(rows[0]), after)
		before = after
	}
}

// evolve inserts items into a clone and its model, and erases every third again,
// and the first row.
func (y *writing) evolve(c boundMap, alone *model.Map[model.Item]) error {
	erase := func(id uint64) error {
		if got, want := c.erase(id), alone.Erase(id); got != want {
			return fmt.Errorf("erases %s: %v; want %v", model.Text(id), got, want)
		}
		return nil
	}
	for i := range y.s.Arg("n") {
		item := y.t.keeps(model.Item{Key: uint64(i)})
		got, err := c.insertItems([]model.Item{item})
		want := alone.InsertItems([]model.Item{item})
		switch {
		case want == nil:
			err = wraps(err, store.ErrFull)
		case err != nil || !slices.Equal(got, want):
			err = fmt.Errorf("issues %s, %v; want %s", list(got), err, list(want))
		case i%3 == 0:
			err = erase(got[0])
		}
		if err != nil {
			return err
		}
	}
	if rows := alone.Handles(); y.s.Arg("n") > 0 && len(rows) > 0 {
		return erase(rows[0])
	}
	return nil
}
