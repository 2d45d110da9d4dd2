package storetest

// WorkersOfRuns returns the number of workers of each run, in setup order.
func WorkersOfRuns(workers []int) []int {
	var all []int
	for _, r := range (Options{Workers: workers}).runs() {
		all = append(all, r.workers)
	}
	return all
}
