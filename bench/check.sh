#!/bin/sh
# Checks that benchstat reads the output of -format go without a complaint, that
# SIGTERM keeps finished measurements, that a reader may close the pipe, and that
# wrong usage ends with exit code 2. BENCHSTAT is the command of benchstat.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/bench" ./bench
cases='op=(get|flush|memory|gc|halves|mixed)/.*n=(100000|0)/size=(0|8)'

"$dir/bench" -list -run "$cases" >"$dir/names"
test "$(wc -l <"$dir/names")" -gt 10
"$dir/bench" -run "$cases" -count 2 -benchtime 1ms -format go >"$dir/run.txt" 2>"$dir/progress"
$BENCHSTAT "$dir/run.txt" >"$dir/table" 2>"$dir/complaints"
test ! -s "$dir/complaints" || { cat "$dir/complaints"; exit 1; }
while read -r name; do
	grep -qF "$name" "$dir/table" || { echo "benchstat does not list $name"; exit 1; }
done <"$dir/names"

"$dir/bench" -run "$cases" -count 1000 -cpuprofile "$dir/profile" >"$dir/out" 2>"$dir/progress" &
until test -e "$dir/profile" || ! kill -0 $! 2>"$dir/complaints"; do sleep 0.1; done # it measures
kill -TERM $! || true
code=0
wait $! || code=$?
tail -1 "$dir/out"
test "$code" = 143 && grep -q '^partial: ' "$dir/out" || {
	echo "bench ended by SIGTERM with exit code $code; want 143 and a table marked as partial"
	exit 1
}

{
	until test -e "$dir/gone"; do sleep 0.1; done
	code=0
	"$dir/bench" -list 2>"$dir/out" || code=$?
	echo $code >"$dir/code"
} | {
	exec <&-
	: >"$dir/gone"
}
test "$(cat "$dir/code")" = 0 && test ! -s "$dir/out" || {
	cat "$dir/out"
	echo "bench -list ended with exit code $(cat "$dir/code") when nobody read on; want 0 and nothing said"
	exit 1
}

for wrong in '-run op=nothing' '-count 0' '-n 0' '-html /nowhere/at/all' '-targets -format go'; do
	code=0
	# shellcheck disable=SC2086 # words
	"$dir/bench" $wrong >"$dir/out" 2>&1 || code=$?
	test "$code" = 2 && test "$(wc -l <"$dir/out")" = 1 || {
		cat "$dir/out"
		echo "bench $wrong ended with exit code $code and these lines; want 2 and one line"
		exit 1
	}
done
