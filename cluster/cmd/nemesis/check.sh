#!/bin/sh
# Runs the nemesis from a binary, because go run hides exit codes: for 20 seconds, in
# which nothing may be lost; with a fault in every node, which must be found; with wrong
# flags; and until SIGTERM ends it. Nothing may be left behind.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/nemesis" ./cluster/cmd/nemesis
TMPDIR=$dir/tmp
export TMPDIR
mkdir "$TMPDIR"

"$dir/nemesis" -h >"$dir/help"
"$dir/nemesis" -duration 20s -seed "${SEED:-1}" -json "$dir/json"
"$dir/nemesis" -duration 40s -seed "${SEED:-1}" -only stop-owner -canary ack-before-append | tail -1 >"$dir/out"
cat "$dir/out"
grep -q '^verdict: found (exit code 0)' "$dir/out"

for wrong in '-duration 0s' '-only kill-moon' '-canary none' 'more' '-hz 0' '-clients x'; do
	code=0
	# shellcheck disable=SC2086 # words
	"$dir/nemesis" $wrong 2>"$dir/out" || code=$?
	cat "$dir/out"
	test "$code" = 2 || { echo "nemesis $wrong ended with exit code $code, not 2"; exit 1; }
done

"$dir/nemesis" -duration 10m -dir "$dir/log" >"$dir/out" &
until grep -q 'are up' "$dir/out"; do sleep 0.1; done
kill -TERM $!
code=0
wait $! || code=$?
tail -1 "$dir/out"
test "$code" = 143 && tail -1 "$dir/out" | grep -q '^verdict: interrupted (exit code 143)' || {
	echo "it ended with exit code $code and that line; want 143 and the verdict"
	exit 1
}

# A parent that is killed takes its children along.
"$dir/nemesis" -duration 10m -dir "$dir/killed" >"$dir/out" &
parent=$!
until grep -q "are up" "$dir/out"; do sleep 0.1; done
children=$(ps -o pid= --ppid "$parent" 2>/dev/null || true)
kill -KILL "$parent"
wait "$parent" 2>/dev/null || true
sleep 1
for child in $children; do
	case $(ps -o stat= -p "$child" 2>/dev/null || true) in
	'' | Z*) ;; # gone, or ended and nobody has asked yet
	*) echo "process $child outlives its parent"; exit 1 ;;
	esac
done
left=$(ls "$TMPDIR")
test -z "$left" || { echo "left behind: $left"; exit 1; }
