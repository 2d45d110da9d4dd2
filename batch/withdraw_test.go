package batch_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"handloom/batch"
)

// signaled takes a signal that calls may wait.
func signaled(a *batch.EncodedInbox) bool {
	select {
	case <-a.Arrived():
		return true
	default:
		return false
	}
}

// A model keeps the waiting calls in a list.
func TestWithdraw_AgreesWithModel(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		b := newLimited(batch.Limits{InboxCommands: 1 << 13}, 1)
		a := b.Claim(errReleased)
		var waiting, ended []*batch.Call
		for range 6000 {
			switch n := random.IntN(int(20 + 60*(seed%2))); {
			case n == 0:
				signaled(a) // of calls that are sealed or withdrawn by now
				input, calls := a.Seal(nil, random.IntN(2000))
				if k := len(calls); !slices.Equal(calls, waiting[:k]) || (k == 0) != (len(waiting) == 0) {
					t.Fatalf("%d calls of %d are sealed, in another order or none", k, len(waiting))
				}
				ended, waiting = append(ended, calls...), slices.Delete(waiting, 0, len(calls))
				noError(t, b.PutInput(input, calls))
				b.Finish()
				if signal := signaled(a); signal != (len(waiting) > 0) {
					t.Fatalf("%d calls wait, signaled: %t", len(waiting), signal)
				}
			case n < 10:
				q, err := a.Enter()
				noError(t, err)
				b.EmplaceItems(q, make([]value, 1+random.IntN(3)), nil)
				waiting = append(waiting, batch.NewCall())
				noError(t, a.AddCall(q, waiting[len(waiting)-1]))
			case n%3 == 0 && len(ended) > 0:
				if a.Withdraw(ended[random.IntN(len(ended))]) {
					t.Fatal("a call that does not wait is withdrawn")
				}
			case len(waiting) > 0:
				i := random.IntN(len(waiting))
				if !a.Withdraw(waiting[i]) {
					t.Fatalf("call %d of %d is not withdrawn", i, len(waiting))
				}
				ended, waiting = append(ended, waiting[i]), slices.Delete(waiting, i, i+1)
			}
		}
		a.Release(errReleased)
		for i, c := range waiting {
			if <-c.Completed(); c.Err() != errReleased {
				t.Fatalf("call %d: %v", i, c.Err())
			}
		}
	}
}
