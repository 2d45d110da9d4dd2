#!/bin/sh
# Alternates the benchmarks of another revision and of the working tree, and compares
# them by benchstat. Exit code 3: a case is significantly worse by more than THRESHOLD
# per cent (5). BENCHSTAT is the command of benchstat.
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

one() { # before or after, and the seed
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
$BENCHSTAT "$dir/before.txt" "$dir/after.txt"
# A CSV table begins with its unit. A row is: case, median and interval before and
# after, change, p. Only a significant change is a number.
$BENCHSTAT -format csv "$dir/before.txt" "$dir/after.txt" 2>"$dir/warnings" | awk -F, -v limit="${THRESHOLD:-5}" '
	$2 ~ /\// && $2 !~ /[0-9]/ { sign = $2 ~ /\/s$/ ? -1 : 1 }
	$6 ~ /%$/ && $1 != "geomean" && sign * $6 > limit { print "REGRESSION " $1 " " $6 " " $7; worse++ }
	END { exit worse ? 3 : 0 }
'
