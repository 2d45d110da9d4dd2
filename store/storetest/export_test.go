package storetest

// WorkersOfRuns returns the number of workers of each run, in the order in which
// the runs are set up.
func WorkersOfRuns(workers []int) []int {
	var all []int
	for _, r := range (Options{Workers: workers}).runs() {
		all = append(all, r.workers)
	}
	return all
}
