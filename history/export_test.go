package history

var (
	Run        = run
	DiffMemory = &diffMemory
)
