#!/bin/sh
# Runs the nemesis from a binary, because go run hides exit codes: 20 seconds without
# losses; with wrong flags; and until SIGTERM. No files may remain.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. ./proof/check.sh
go build -o "$dir/nemesis" ./cluster/cmd/nemesis
TMPDIR=$dir/tmp
export TMPDIR
mkdir "$TMPDIR"

"$dir/nemesis" -h >"$dir/help"
"$dir/nemesis" -duration 20s -seed "${SEED:-1}"

for wrong in '-duration 0s' '-only kill-moon' 'more' '-unknown'; do
	# shellcheck disable=SC2086 # words
	refused "$dir/nemesis" $wrong
done

"$dir/nemesis" -duration 10m >"$dir/out" &
until grep -q 'are up' "$dir/out"; do sleep 0.1; done
interrupted nemesis

# Children of a killed parent end.
mkdir "$dir/killed"
TMPDIR=$dir/killed "$dir/nemesis" -duration 10m >"$dir/out" &
until grep -q "are up" "$dir/out"; do sleep 0.1; done
alone
left=$(ls "$TMPDIR")
test -z "$left" || { echo "left behind: $left"; exit 1; }
