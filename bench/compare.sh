#!/bin/sh
# Runs the benchmarks of another revision and of the working tree in turns on this
# machine, and says what has changed. Exit code 3: something has become worse.
#
#	sh bench/compare.sh REVISION [REGEXP] [ROUNDS]
set -eu
base=${1:-} pattern=${2:-} rounds=${3:-10}
test -n "$base" || { echo "which revision? make bench-compare BASE=rev"; exit 2; }
git rev-parse --quiet --verify "$base^{commit}" >/dev/null || { echo "$base is no revision"; exit 2; }

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/base"
git archive "$base" | tar -x -C "$dir/base"
test -f "$dir/base/bench/main.go" || { echo "revision $base has no bench program"; exit 2; }
(cd "$dir/base" && go build -o "$dir/before" ./bench)
go build -o "$dir/after" ./bench

one() { # which of the two, and the seed
	"$dir/$1" -count 1 -seed "$2" -format go ${pattern:+-run "$pattern"} >>"$dir/$1.txt" 2>/dev/null
}
round=1
while [ "$round" -le "$rounds" ]; do
	echo "round $round of $rounds" >&2
	if [ $((round % 2)) -eq 0 ]; then
		one before "$round" && one after "$round"
	else
		one after "$round" && one before "$round"
	fi
	round=$((round + 1))
done
"$dir/after" -from "$dir/after.txt" -baseline "$dir/before.txt"
