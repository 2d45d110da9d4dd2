#!/bin/sh
# Runs the main job from a binary, because go run hides exit codes, and checks
# that a malformed trace is refused with exit code 2.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/stress" ./stress
"$dir/stress"
printf 'handloom-trace 1\nC 0 1\nC 0 1\n' >"$dir/twice.trace"
code=0
"$dir/stress" replay "$dir/twice.trace" >"$dir/out" 2>&1 || code=$?
cat "$dir/out"
test "$code" = 2 || { echo "a malformed trace ended with exit code $code, not 2"; exit 1; }
