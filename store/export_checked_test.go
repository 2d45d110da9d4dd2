//go:build handloom_check

package store

func (s *Store) Settled(recorded int) { s.flush.verifyCounts(recorded) }
