package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"handloom/batch"
	"handloom/store"
)

func virtual(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

type call struct {
	done chan struct{}
	err  error
}

func begin(f func() error) *call {
	c := &call{done: make(chan struct{})}
	go func() {
		defer close(c.done)
		c.err = f()
	}()
	return c
}

// waits fails the test unless the call is still running while all others are blocked.
func (c *call) waits(t *testing.T, what string) {
	t.Helper()
	synctest.Wait()
	select {
	case <-c.done:
		t.Errorf("%s did not wait: %v", what, c.err)
	default:
	}
}

func (c *call) result() error {
	<-c.done
	return c.err
}

func hold(t *testing.T, s *store.Store) (release func()) {
	t.Helper()
	return held(t, func(wait func()) error {
		return s.Read(context.Background(), func(context.Context) error { wait(); return nil })
	})
}

func holdAlone(t *testing.T, s *store.Store) (release func()) {
	t.Helper()
	return held(t, func(wait func()) error {
		return s.Write(context.Background(), func(*store.Writer) { wait() })
	})
}

func held(t *testing.T, phase func(wait func()) error) (release func()) {
	stop := make(chan struct{})
	c := begin(func() error { return phase(func() { <-stop }) })
	synctest.Wait()
	return func() {
		t.Helper()
		close(stop)
		wantError(t, "", c.result(), nil)
	}
}

var shared = map[string]bool{"Read": true, "Reduce": true, "Digest": true, "Verify": true}

func TestGate_ReadingPhasesShareIt(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
		fill(t, s, table, 10)
		for what, phase := range phases(s, table) {
			for beside, hold := range map[string]func(*testing.T, *store.Store) func(){"Read": hold, "Write": holdAlone} {
				release := hold(t, s)
				c := begin(func() error { return phase(context.Background()) })
				if shared[what] && beside == "Read" {
					_ = c.result()
				} else {
					c.waits(t, what+" beside a "+beside)
				}
				release()
				wantError(t, what+" beside a "+beside, c.result(), nil)
			}
		}
	})
}

func TestGate_WaitEndsWithTheContext(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
		fill(t, s, table, 10)
		late := errors.New("too late")
		release := holdAlone(t, s)
		for what, phase := range phases(s, table) {
			ctx, cancel := context.WithTimeoutCause(context.Background(), time.Hour, late)
			wantError(t, what, phase(ctx), late)
			cancel()
		}
		release()
		usable(t, s, table)
	})
}

func TestPass_RunsNoTaskAfterItsContextEnded(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{ChunkItems: 1})
	fill(t, s, table, 4)
	check := func(ctx context.Context) {
		t.Helper()
		each := s.Each(ctx, 4, func(int, store.Queue) { t.Error("a task of Each ran") })
		forEach := table.ForEach(ctx, func(store.Chunk[item]) { t.Error("a task of ForEach ran") })
		wantError(t, "Each", each, context.Canceled)
		wantError(t, "ForEach", forEach, context.Canceled)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	check(cancelled)
	check(ended{t.Context()})
	runFrame(t, s, func(ctx context.Context, _ *store.Writer) error {
		check(ended{ctx})
		return nil
	})
}

// Open Reads and calls that wait for them do not block recording.
func TestGate_QueuesIgnoreReaders(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
		record := func() {
			t.Helper()
			table.Emplace(queues(t, s, 1)[0], item{})
			wantError(t, "", s.Discard(), nil)
			table.Emplace(queues(t, s, 1)[0], item{})
		}
		var order []string
		note := func(what string) *call {
			c := begin(func() error {
				return s.Write(context.Background(), func(*store.Writer) { order = append(order, what) })
			})
			c.waits(t, what)
			return c
		}
		release := hold(t, s)
		record()
		first := note("first")
		record()
		second := note("second")
		record()
		release()
		wantError(t, "both calls", errors.Join(first.result(), second.result()), nil)
		equalLists(t, "order", order, "first", "second")
		noError(t, s.Read(t.Context(), func(context.Context) error {
			note("third")
			record()
			return nil
		}))
		synctest.Wait()
		release = holdAlone(t, s)
		_, refused := s.Queues(1)
		wantError(t, "beside a Write", refused, store.ErrPhase)
		wantError(t, "beside a Write", s.Discard(), store.ErrPhase)
		release()
		wantFlush(t, s, batch.Counts{Created: 1})
	})
}

func TestContext_PhasesOfTwoStoresDoNotMix(t *testing.T) {
	atOnce(t, func(t *testing.T) {
		a, tableA := newTable(t, store.Options{}, store.TableOptions[item]{})
		b, tableB := newTable(t, store.Options{}, store.TableOptions[item]{})
		fill(t, a, tableA, 1)
		fill(t, b, tableB, 1)
		noError(t, a.Read(t.Context(), func(ctx context.Context) error {
			for what, phase := range phases(b, tableB) {
				wantError(t, what+" of another store inside a Read", phase(ctx), nil)
			}
			return onlyError(b.Frame(ctx, func(ctx context.Context, _ *store.Writer) error {
				wantError(t, "Reduce inside the Read, through a Write of another store", onlyError(sum(ctx, tableA)), nil)
				wantError(t, "Flush inside the Read", onlyError(a.Flush(ctx)), store.ErrPhase)
				return nil
			}))
		}))
	})
}

// Readers and the frame loop continue until each has done its share, so neither starves.
func TestRead_SharesWithAFrameLoop(t *testing.T) {
	const readers, frames, looks = 3, 60, 60
	s, table := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{Shards: 2, ChunkItems: 16})
	fill(t, s, table, 200)
	var looked [readers]atomic.Int64
	var framed atomic.Int64
	behind := func() bool {
		for i := range looked {
			if looked[i].Load() < looks {
				return true
			}
		}
		return framed.Load() < frames
	}
	var g errgroup.Group
	for i := range readers {
		g.Go(func() error {
			for behind() {
				if err := s.Read(t.Context(), func(ctx context.Context) error { return look(ctx, t, s, table) }); err != nil {
					return err
				}
				looked[i].Add(1)
				s.Stats()
			}
			return nil
		})
	}
	for behind() {
		runFrame(t, s, func(ctx context.Context, w *store.Writer) error {
			table.Insert(w, item{})
			pass := table.ForEach(ctx, func(c store.Chunk[item]) {
				for i := range c.Items {
					c.Items[i].Value++
					if i == int(framed.Load())%16 {
						c.Erase(i)
						table.Emplace(c.Queue, c.Items[i])
					}
				}
			})
			emplaceIn(t, s, ctx, table, 1)
			return errors.Join(pass, onlyError(s.Flush(ctx)))
		})
		framed.Add(1)
	}
	noError(t, g.Wait())
}

func look(ctx context.Context, t *testing.T, s *store.Store, table *store.Table[item]) error {
	var total uint64
	for _, v := range table.All() {
		total += v.Value
	}
	if got, err := sum(ctx, table); got != total || table.Len()%2 != 0 {
		t.Errorf("Reduce adds up to %d, the %d items to %d, %v", got, table.Len(), total, err)
	}
	return s.Verify(ctx)
}

func busyReport(t *testing.T) (*store.Store, *store.Report) {
	t.Helper()
	s := newStore(t, store.Options{})
	ships := register(t, s, store.TableOptions[item]{Name: "ships", Shards: 2})
	shots := register(t, s, store.TableOptions[item]{Name: "shots"})
	hs := fill(t, s, ships, 1000)
	q := queues(t, s, 1)[0]
	p := ships.Emplace(q, item{Value: 1})
	shots.Emplace(q, item{Links: [2]store.ID{p.ID}})
	ships.Erase(q, p)
	ships.EraseItems(q, hs[:10])
	ships.EraseItems(q, hs[:3])
	ships.Put(q, hs[0], item{})
	ships.Put(q, hs[20], item{Value: 1})
	ships.Put(q, hs[20], item{Value: 2})
	shots.Put(q, handleOf(compose(3, 9, 1)), item{})
	q.Erase(compose(77, 1, 1))
	q.Erase(store.ID(1<<63 | 7)) // provisional, of no batch
	report := flush(t, s)
	report.Plan, report.Apply = 41_200*time.Nanosecond, 7*time.Millisecond
	return s, report
}

func TestReport_String(t *testing.T) {
	_, report := busyReport(t)
	for got, want := range map[fmt.Stringer]string{
		report:            "epoch 2: 1 created 10 erased 1 put 1 superseded 1 dropped 3 redundant 3 stale 2 cancelled out 1 dangling",
		&report.Tables[0]: "ships: 10 erased 1 put 1 superseded 1 dropped 3 redundant 2 cancelled out",
		&report.Tables[1]: "shots: 1 created 1 stale 1 dangling",
		new(store.Report): "epoch 0: nothing",
	} {
		equal(t, "the report", got.String(), want)
	}
}

func TestReport_JSONRoundTrips(t *testing.T) {
	s, report := busyReport(t)
	for _, report := range []*store.Report{report, {Epoch: 1<<64 - 1}} {
		var back store.Report
		text := inJSON(t, report, &back)
		if !reflect.DeepEqual(&back, report) && len(report.Tables) > 0 || back.Epoch != report.Epoch || back.Total != report.Total || strings.Contains(text, "null") {
			t.Errorf("%s reads back as\n%#v, want\n%#v", text, &back, report)
		}
	}
	for part, v := range map[string]any{
		`{"epoch":2,"total":{"created":1,"erased":10,`:                                          report,
		`"cancelled_out":2,`:                                                                    report,
		`"tables":[{"name":"ships","created":0,"erased":10,`:                                    report,
		`"stale_samples":[{"handle":"~0:7.0","type_id":0,"kind":"erase","pass":`:                report,
		`"plan_ns":41200,"apply_ns":7000000}`:                                                   report,
		`[{"name":"ships","shards":2,"live":990,"vacant":10,"depleted":0,"slots":1000,"bytes":`: s.Stats(),
	} {
		wantIn(t, "the JSON", inJSON(t, v, nil), part)
	}
}

// inJSON returns v in JSON, and decodes it into back unless that is nil.
func inJSON(t *testing.T, v, back any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil && back != nil {
		err = json.Unmarshal(text, back)
	}
	noError(t, err)
	return string(text)
}

func TestFlushed_SumsReports(t *testing.T) {
	s := newStore(t, store.Options{})
	ships := register(t, s, store.TableOptions[item]{Name: "ships", Shards: 2, TypeID: 7})
	shots := register(t, s, store.TableOptions[item]{Name: "shots", TypeID: 3})
	addColumn(t, ships, store.ColumnOptions[int]{Name: "crew"})
	speed := addColumn(t, ships, store.ColumnOptions[int]{Name: "speed"})
	want := &store.Report{
		Tables:  []store.TableReport{{Name: "ships"}, {Name: "shots"}},
		Columns: []store.TableReport{{Name: "ships.crew"}, {Name: "ships.speed"}},
	}
	check := func(flushed *store.Report) {
		t.Helper()
		if batch.Commanded(flushed.Total) > 0 {
			want.Epoch++
		}
		want.Total.Add(flushed.Total)
		want.Plan += flushed.Plan
		want.Apply += flushed.Apply
		for _, table := range flushed.Tables {
			at := slices.IndexFunc(want.Tables, func(r store.TableReport) bool { return r.Name == table.Name })
			want.Tables[at].Add(table.Counts)
		}
		for _, column := range flushed.Columns {
			at := slices.IndexFunc(want.Columns, func(r store.TableReport) bool { return r.Name == column.Name })
			want.Columns[at].Add(column.Counts)
		}
		got := s.Flushed()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("the sum is\n%+v, want\n%+v", got, want)
		}
		got.Tables[0].Created = 77
	}
	check(&store.Report{})
	q := queues(t, s, 1)[0]
	hs := ships.EmplaceItems(q, make([]item, 9), nil)
	speed.Set(q, hs[0], 7)
	shots.Emplace(q, item{})
	check(flush(t, s))
	var before store.Checkpoint
	checkpoint(t, s, &before)
	q = queues(t, s, 1)[0]
	ships.Erase(q, resolve(t, ships, hs[3]))
	q.Erase(compose(77, 1, 1))
	check(flush(t, s))
	check(flush(t, s))
	noError(t, s.Rollback(t.Context(), &before))
	shots.Emplace(queues(t, s, 1)[0], item{})
	check(flush(t, s))
}
