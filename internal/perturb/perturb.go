// Package perturb lets a program that tests Handloom disturb the parallel steps
// of every store it makes. A program that only uses Handloom leaves it alone.
package perturb

// Step is called once per parallel step of a pass or flush with the number of
// its tasks; the function it returns says which task runs in place of which, and
// is called by the worker that claimed the task, just before it runs. If that is
// nil the step is left alone. A store takes Step when it is made; nil, which it
// is unless a test sets it, costs one compare per step.
var Step func(tasks int) func(task int) int
