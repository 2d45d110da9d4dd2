package maptest

// Page is an item of 4 KiB.
type Page [512]uint64
