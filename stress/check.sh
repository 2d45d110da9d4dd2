#!/bin/sh
# Runs the main job from a binary, because go run hides exit codes, and kills a program
# on a journal. Checks that a malformed trace or program ends with exit code 2, and that
# SIGTERM ends a run with its verdict.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. ./proof/check.sh
go build -o "$dir/stress" ./stress
"$dir/stress" -h >"$dir/help"
(cd "$dir" && ./stress) >"$dir/main" || { cat "$dir/main"; exit 1; }
cat "$dir/main"
test "$(grep -c '^verdict: ' "$dir/main")" -eq 1 # at the end of both parts
go build -o "$dir/kills" ./stress/kills
"$dir/kills" -kills 20 "$dir/log"
go build -o "$dir/world" ./world/cmd/world
"$dir/world" info "$dir/log"

printf 'handloom-trace 1\nC 0 1\nC 0 1\n' >"$dir/twice.trace"
refused "$dir/stress" replay "$dir/twice.trace"
printf 'handloom-stress 1\ndo\njump\n' >"$dir/jump.program"
refused "$dir/stress" -program "$dir/jump.program"
refused "$dir/kills" "$dir/log"
refused "$dir/world" info "$dir/missing"

# It handles signals after its first line.
rm "$dir/out" # of another run
"$dir/stress" -profile smoke -duration 1h >"$dir/out" 2>&1 &
until test -s "$dir/out"; do sleep 0.1; done
interrupted stress
