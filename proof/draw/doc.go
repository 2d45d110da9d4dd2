// Package draw makes random programs, and smaller ones of a program that fails.
//
// A program is drawn from a seed alone. Each draws first what it is about, and
// then its steps from that: a random half of all operations with random weights,
// how large things are, which tables are hot, how narrow handles are, which
// handles are named. Programs that leave operations out reach states that
// programs of everything hardly ever reach: a table only grows to a limit where
// nothing erases. That is swarm testing (Groce et al., 2012).
//
// The drawing keeps a rough account of who lives, so that most handles name
// something; what really lives is for models to say.
package draw
