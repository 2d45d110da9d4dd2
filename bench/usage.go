package main

const usage = `Usage: go run ./bench [flags]

Measures Handloom against what a program would use in its place, side by side in
one process. Without flags: the headline cases, in less than a minute. Every case
has a name, op=/impl=/n=/size=/workers=, and those of one comparison take turns.

What to measure:
  -run REGEXP       the cases whose names match, of all there are; with -targets
                    the targets whose ids match
  -list             prints the names of all cases, or of those of -run
  -n LIST           other numbers of items: 1000,100000
  -cpu LIST         workers of the cases that scale (default 1,2,4 .. GOMAXPROCS)
  -targets          measures what has been promised (bench/README.md, P1 to P38),
                    and M, what the machine does without Handloom
  -build            what item types cost who builds a program with tables of them:
                    builds generated programs of 1, 8 and 32 tables, with the go
                    command, in the module; minutes

How:
  -count N          rounds: samples of every case (default 10; 15 with -targets, 3 with
                    -build); fewer than 6 have no ±, and nothing is called faster
  -benchtime T      least time in one sample (default 5ms)
  -seed N           of the order and of all that is drawn (default 1)
  -cpuprofile FILE  writes a profile of the measuring

What comes of it:
  -format FORM      table (default), go (for benchstat, which also writes CSV), md
  -json             with -targets: the targets as JSON
  -html FILE        also writes a page with charts; measures, besides the headline,
                    cost over n from 1e3 to 1e7

Examples:
  go run ./bench -run 'op=get/.*/size=8'
  go run ./bench -run op=mixed -cpu 1,2,4,8 -html report.html
  go run ./bench -format go > before.txt; ...; benchstat before.txt after.txt
  make bench-compare BASE=rev RUN=op=flush
  go run ./bench -targets -run '^P5$'

Columns of the table: the median, how far its 95 % interval reaches, and how it
compares with the first of its group, which is the median of the ratios of the
single rounds, for both saw the same machine then; it is not the ratio of the
medians. Faster and slower are said only where the intervals have nothing in common.

Exit codes: 0 done, 2 wrong usage or malformed input, 130 interrupted and 143 told
to end by SIGTERM: what was measured is printed, marked as partial.
`
