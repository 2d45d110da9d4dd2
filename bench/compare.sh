#!/bin/sh
# Alternates the benchmarks of another revision and of the working tree, and compares
# them by benchstat. The cases are those of both revisions that match REGEXP, by default
# all of Handloom's own. A case that is slower by more than THRESHOLD per cent (5) with
# p < 0.05 is measured again; the last line counts such cases. Exit code 3: a case is
# slower both times. Each round links both programs in an order of its own, because the
# place of a loop alone makes it up to 20 % slower. BENCHSTAT is the command of benchstat.
#
#	sh bench/compare.sh REVISION [REGEXP] [ROUNDS]
set -eu
own='/impl=(handlemap|slotmap|table|stabletable|journal|team|fresh)'
base=${1:-} pattern=${2:-$own} rounds=${3:-10} threshold=${THRESHOLD:-5}
test -n "$base" || { echo "which revision? make bench-compare BASE=rev"; exit 2; }
git rev-parse --quiet --verify "$base^{commit}" >/dev/null || { echo "$base is no revision"; exit 2; }

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/base"
git archive "$base" | tar -x -C "$dir/base"
test -f "$dir/base/bench/main.go" || { echo "revision $base has no bench program"; exit 2; }

link() { # the number of a round
	(cd "$dir/base" && go build -ldflags=-randlayout="$1" -o "$dir/before" ./bench)
	go build -ldflags=-randlayout="$1" -o "$dir/after" ./bench
}

names() { # before or after
	"$dir/$1" -list -run "$pattern" | sort >"$dir/$1.names"
}

one() { # before or after, and the seed
	"$dir/$1" -count 1 -seed "$2" -format go -run "$cases" >>"$dir/$1.txt" 2>/dev/null
}

measure() { # file with the names of cases
	cases="^($(sed 's/[.]/[.]/g' "$1" | paste -sd '|' -))\$"
	: >"$dir/before.txt" >"$dir/after.txt"
	round=1
	while [ "$round" -le "$rounds" ]; do
		echo "round $round of $rounds, $(wc -l <"$1") cases" >&2
		link "$round"
		if [ $((round % 2)) -eq 0 ]; then
			one before "$round" && one after "$round"
		else
			one after "$round" && one before "$round"
		fi
		round=$((round + 1))
	done
}

# A CSV table begins with its unit. A row is: case, median and interval before and
# after, change, p. Only a significant change is a number.
slower() { # prints the slower cases with their change and p
	$BENCHSTAT -format csv before="$dir/before.txt" after="$dir/after.txt" 2>"$dir/warnings" | awk -F, -v limit="$threshold" '
		$2 ~ /\// && $2 !~ /[0-9]/ { sign = $2 ~ /\/s$/ ? -1 : 1 }
		$6 ~ /%$/ && $1 != "geomean" && sign * $6 > limit { gsub(/^Handloom\/|-[0-9]+$/, "", $1); print $1, $6, $7 }
	'
}

link 1
names before && names after
comm -12 "$dir/before.names" "$dir/after.names" >"$dir/names"
test -s "$dir/names" || { echo "no case of both revisions matches $pattern"; exit 2; }
measure "$dir/names"
$BENCHSTAT before="$dir/before.txt" after="$dir/after.txt"
slower >"$dir/first"
: >"$dir/both"
if [ -s "$dir/first" ]; then
	cut -d ' ' -f 1 "$dir/first" >"$dir/suspects"
	measure "$dir/suspects"
	slower >"$dir/again"
	sort "$dir/first" >"$dir/first.sorted"
	sort "$dir/again" | join -a 1 "$dir/first.sorted" - | sed 's/^/SLOWER /'
	cut -d ' ' -f 1 "$dir/again" | sort >"$dir/both"
fi
echo "verdict: of $(wc -l <"$dir/names") cases $(wc -l <"$dir/first") are slower by more than $threshold % with p < 0.05, $(wc -l <"$dir/both") of them again"
test ! -s "$dir/both" || exit 3
