package maptest

// Items with pointers, and large ones.
type (
	Rich struct {
		Name string
		Next *uint64
		List []uint64
	}
	Page [512]uint64 // 4 KiB
)
