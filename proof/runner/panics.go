package runner

// PanicOf returns the error that f panics with, or nil. It repeats other
// panics.
func PanicOf(f func()) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case error:
			err = v
		default:
			panic(v)
		}
	}()
	f()
	return nil
}
