module handloom

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/puzpuzpuz/xsync/v4 v4.5.0
	github.com/yuin/goldmark v1.8.7
	go.uber.org/goleak v1.3.0
	golang.org/x/perf v0.0.0-20260908200009-22c9c6c9d4da
	golang.org/x/sync v0.24.0
	pgregory.net/rapid v1.3.0
)

require github.com/aclements/go-moremath v0.0.0-20210112150236-f10218a38794 // indirect
