package world

import (
	"bytes"
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"testing/synctest"

	"handloom/internal/entrance"
	"handloom/internal/entry"
	"handloom/internal/image"
	"handloom/store"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden returns the bytes of a golden file; a nil write never updates it.
func golden(t *testing.T, name string, write func() []byte) []byte {
	t.Helper()
	file := filepath.Join("testdata", name+".hex")
	if *update && write != nil {
		noError(t, os.MkdirAll("testdata", 0o755))
		noError(t, os.WriteFile(file, append([]byte(hex.EncodeToString(write())), '\n'), 0o644))
	}
	text, err := os.ReadFile(file)
	noError(t, err)
	b, err := hex.DecodeString(string(bytes.TrimSpace(text)))
	noError(t, err)
	return b
}

func wantGolden(t *testing.T, name string, written []byte, got interface{ Decode(b []byte) error }, want any) {
	t.Helper()
	b := golden(t, name, func() []byte { return written })
	if err := got.Decode(b); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read as %+v, %v; want %+v", got, err, want)
	}
	if !bytes.Equal(written, b) {
		t.Errorf("written as %x, want %x", written, b)
	}
}

func goldenEpoch() entry.TermStart {
	return entry.TermStart{Version: "game 1", Hz: 60, Arch: "amd64", Go: "go1.26.1", Schema: entry.Chain{1, 2, 3}}
}

func TestRecord_MatchesGoldenFiles(t *testing.T) {
	for k := entry.KindTermStart; k <= entry.KindIdle; k++ {
		t.Run(k.String(), func(t *testing.T) {
			want := entry.Record{
				Kind: k, Cell: 0x0102030405060708, Incarnation: 0x1112131415161718, Term: 3, Tick: 77, Time: 1_700_000_000_123_456_789,
				Chain: entry.Chain{0xc, 0xd, 15: 0xe}, State: entry.StateDigest{Tick: 76, Shards: []entry.ShardDigest{{TypeID: 5, Sum: 0x2122232425262728}, {TypeID: 9, Sum: 1}}},
			}
			switch k {
			case entry.KindTermStart:
				want.Start = goldenEpoch()
			case entry.KindTick:
				want.Input = []byte("input")
			case entry.KindHandoff:
				want.To = "game 2"
			}
			want.Idle = 59
			if k == entry.KindHandoff {
				want.Wait = 30_000_000_000
			}
			wantGolden(t, "record-"+k.String()+"", append(want.Append(nil), want.Input...), new(entry.Record), &want)
		})
	}
}

func TestTrailer_MatchesGoldenFile(t *testing.T) {
	want := position{Trailer: entry.Trailer{
		Cell: 0x0102030405060708, Term: 3, Leader: 0x1112131415161718, Time: 1_700_000_000_123_456_789, Seed: 42,
		Handed: true, To: "game 2", Start: goldenEpoch(),
	}}
	want.Idle, want.Wait = 59, 30_000_000_000
	s := store.New(store.Options{})
	i := snapshot{position: want}
	noError(t, s.Checkpoint(t.Context(), &i.state))
	var whole bytes.Buffer
	noError(t, i.writeTo(&whole))
	if _, err := image.Inspect(&whole); err != nil {
		t.Fatal(err)
	}
	wantGolden(t, "trailer", whole.Bytes(), new(position), &want)
}

type goldenItem struct {
	N    int32
	Name string
	To   store.Handle[goldenItem]
}

func TestSealedInput_MatchesGoldenFile(t *testing.T) {
	open := func(t *testing.T) (*store.Store, *store.Table[goldenItem], entrance.Claim[store.Queue, *store.Receipt, *store.Writer]) {
		t.Helper()
		s := store.New(store.Options{Workers: 1})
		items := store.Register(s, store.TableOptions[goldenItem]{Name: "items"})
		err := s.Write(t.Context(), func(w *store.Writer) {
			for n := range int32(3) {
				items.Insert(w, goldenItem{N: n})
			}
		})
		noError(t, err)
		c, err := s.Entrance(entrance.Key{}).OpenClaim(t.Context())
		noError(t, err)
		return s, items, c
	}
	b := golden(t, "input", func() (input []byte) {
		synctest.Test(t, func(t *testing.T) {
			_, items, c := open(t)
			var all []store.Handle[goldenItem]
			for h := range items.All() {
				all = append(all, h)
			}
			go func() {
				_, _ = c.Submit(context.Background(), context.Background(), func(q store.Queue) error {
					a := items.Emplace(q, goldenItem{N: 10, Name: "a"})
					items.Emplace(q, goldenItem{N: 11, Name: "b", To: a})
					items.Put(q, all[1], goldenItem{N: 12, Name: "c", To: all[2]})
					items.Erase(q, all[0])
					return nil
				})
			}()
			synctest.Wait()
			sealed, calls := c.Seal(nil, 1<<20)
			calls.Done(1, nil)
			c.Release()
			input = sealed
		})
		return input
	})
	s, items, c := open(t)
	defer c.Release()
	_, err := s.Frame(c.Context(t.Context()), func(ctx context.Context, _ *store.Writer) error {
		if err := c.Unseal(ctx, b, nil); err != nil {
			return err
		}
		_, err := s.Flush(ctx)
		return err
	})
	noError(t, err)
	got := make(map[string]bool) // an item and the number of the item that it names
	for _, v := range items.All() {
		to := goldenItem{}
		if named, ok := items.Get(v.To); ok {
			to = *named
		}
		got[fmt.Sprintf("%d %q to %d", v.N, v.Name, to.N)] = true
	}
	if want := map[string]bool{`2 "" to 0`: true, `10 "a" to 0`: true, `11 "b" to 10`: true, `12 "c" to 2`: true}; !maps.Equal(got, want) {
		t.Errorf("items %v, want %v", got, want)
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
