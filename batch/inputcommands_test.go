package batch_test

import (
	"bytes"
	"reflect"
	"testing"

	"handloom/batch"
	"handloom/handle"
	"handloom/internal/entrance"
	"handloom/internal/items"
)

// The input of decoded commands has the same commands, and refuses those that fit no table.
func TestEncodeInput_EqualsDecodedInput(t *testing.T) {
	b, r := newTable[value](2, 8)
	var silent recorder[struct{}]
	silent.Init(b, 10, 1, items.For[struct{}]())
	var column, sparse batch.SetLog
	column.Init(&r.Recorder, items.For[string](), false, nil, nil)
	sparse.Init(&r.Recorder, items.For[int8](), true, nil, nil)
	a := b.Claim(errReleased)
	some := handle.New(7, 1, 5)
	arrive(t, a, func(q queue) {
		one := r.Emplace(q, value{N: 2})
		r.Emplace(q, value{N: 3, Link: one.ID})
		silent.EmplaceItems(q, make([]struct{}, 2), nil)
		r.Put(q, name{ID: some}, value{N: 4, Link: one.ID})
		r.Erase(q, one)
		r.Erase(q, name{})
		*(*string)(column.Set(q, some)) = "text"
	})
	arrive(t, a, func(q queue) {
		q.Erase(handle.New(99, 1, 1))
		r.EraseAll(q)
		sparse.Unset(q, some)
	})
	input, _ := a.Seal(nil, 1<<20)
	calls, err := b.DecodeInput(input)
	noError(t, err)
	again, err := b.EncodeInput(calls)
	noError(t, err)
	same, err := b.DecodeInput(again)
	noError(t, err)
	third, err := b.EncodeInput(same)
	noError(t, err)
	if len(calls) != 2 || len(calls[0]) != 8 || len(calls[1]) != 3 || !bytes.Equal(again, third) || !reflect.DeepEqual(calls, same) ||
		*calls[0][7].Value.(*string) != "text" || calls[0][1].Value.(*value).N != 3 {
		t.Errorf("got %+v, then %+v", calls, same)
	}
	for _, c := range []entrance.Command{
		{Kind: "create", Table: 0, Part: -1, Value: new(int)},
		{Kind: "put", Table: 9, Part: -1, Value: &value{}},
		{Kind: "move", Table: 0, Part: -1},
		{Kind: "set", Table: 0, Part: 2, Value: new(string)},
		{Kind: "unset", Table: 0, Part: 0},
	} {
		if _, err := b.EncodeInput([][]entrance.Command{{c}}); err == nil {
			t.Errorf("%+v is encoded", c)
		}
	}
	if _, err := b.DecodeInput([]byte{9}); err == nil {
		t.Error("an input of another version is decoded")
	}
	if n := b.Pending(); n != (batch.Load{}) {
		t.Errorf("the batch has %+v", n)
	}
}
