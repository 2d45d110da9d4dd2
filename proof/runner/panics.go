package runner

// PanicOf returns the error with which f panics, or nil. Other panics go on.
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
