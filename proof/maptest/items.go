package maptest

// Page is a large item, of 4 KiB.
type Page [512]uint64
