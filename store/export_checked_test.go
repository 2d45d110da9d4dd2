//go:build handloom_check

package store

// Settled checks the last flush as if recorded commands had been recorded.
func (s *Store) Settled(recorded int) { s.flush.verifyCounts(recorded) }
