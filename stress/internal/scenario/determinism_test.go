package scenario

import "testing"

func TestTheDigestIsThatOfTheSeedAlone(t *testing.T) {
	s := small()
	want := passed(t, s, Options{Workers: 1, Seed: 7})
	for _, with := range []struct{ workers, readers int }{{0, 4}, {2, 0}, {5, 1}} {
		s := small()
		s.Readers = with.readers
		got := passed(t, s, Options{Workers: with.workers, Seed: 7})
		if got.Digest != want.Digest || got.Counts != want.Counts {
			t.Errorf("%+v: digest %x and %v; want %x and %v", with, got.Digest, got.Counts, want.Digest, want.Counts)
		}
	}
	if other := passed(t, small(), Options{Seed: 8}); other.Digest == want.Digest {
		t.Errorf("another seed gives the same digest, %x", other.Digest)
	}
	s.Ticks--
	if other := passed(t, s, Options{Seed: 7}); other.Digest == want.Digest {
		t.Errorf("a tick fewer gives the same digest, %x", other.Digest)
	}
}

func TestTheScenariosOfTheProgramRun(t *testing.T) {
	if len(Names()) != 6 {
		t.Errorf("there are %q", Names())
	}
	for _, name := range Names() {
		s, again := load(t, name), load(t, name)
		if s.About == "" || s.Name != name {
			t.Errorf("%s is %q, about %q", name, s.Name, s.About)
		}
		a, b := passed(t, s, Options{Workers: 1}), passed(t, again, Options{Workers: 3})
		if a.Digest != b.Digest {
			t.Errorf("%s: digests %x and %x", name, a.Digest, b.Digest)
		}
		if a.Counts.Commands() == 0 {
			t.Errorf("%s: no command", name)
		}
	}
}
