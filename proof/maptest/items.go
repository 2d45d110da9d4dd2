package maptest

type Page [512]uint64
