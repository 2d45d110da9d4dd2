#!/bin/sh
# Runs the main job from a binary, because go run hides exit codes, and kills a
# program on a journal; checks that a malformed trace or program is refused with exit
# code 2, that SIGTERM ends a run with its verdict, and that a child ends with its
# parent.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/stress" ./stress
"$dir/stress" -h >"$dir/help"
(cd "$dir" && ./stress)
"$dir/stress" -durable "$dir/log" -kills 20
"$dir/stress" inspect "$dir/log"

refused() {
	code=0
	"$dir/stress" "$@" >"$dir/out" 2>&1 || code=$?
	cat "$dir/out"
	test "$code" = 2 || { echo "stress $* ended with exit code $code, not 2"; exit 1; }
}
printf 'handloom-trace 1\nC 0 1\nC 0 1\n' >"$dir/twice.trace"
refused replay "$dir/twice.trace"
printf 'handloom-stress 1\ndo\njump\n' >"$dir/jump.program"
refused -program "$dir/jump.program"
refused -durable "$dir/log"
refused inspect "$dir/missing"

# Both answer once they have said what runs.
for endless in '-scenario arena -ticks 100000000' '-profile smoke -duration 1h'; do
	rm "$dir/out" # what another run said
	# shellcheck disable=SC2086 # words
	"$dir/stress" $endless >"$dir/out" 2>&1 &
	until test -s "$dir/out"; do sleep 0.1; done
	kill -TERM $!
	code=0
	wait $! || code=$?
	tail -1 "$dir/out"
	test "$code" = 143 && tail -1 "$dir/out" | grep -q '^verdict: interrupted (exit code 143)' || {
		echo "stress $endless ended with exit code $code and this line; want 143 and the verdict"
		exit 1
	}
done

"$dir/stress" -profile smoke -duration 1h >"$dir/out" 2>&1 &
parent=$!
sleep 2
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
