package history

var Run = run
