# Common functions of the check.sh of programs, sourced in the root of the repository.
# dir is a temporary folder.

# refused checks that wrong usage ends with exit code 2.
refused() {
	code=0
	"$@" >"$dir/out" 2>&1 || code=$?
	cat "$dir/out"
	test "$code" = 2 || { echo "$* ended with exit code $code, not 2"; exit 1; }
}

# interrupted checks that SIGTERM ends the last background job, which writes to $dir/out,
# with its verdict.
interrupted() {
	kill -TERM $!
	code=0
	wait $! || code=$?
	tail -1 "$dir/out"
	test "$code" = 143 && tail -1 "$dir/out" | grep -q '^verdict: interrupted (exit code 143)' || {
		echo "$* ended with exit code $code and this line; want 143 and the verdict"
		exit 1
	}
}

# alone checks that the children of the last background job end when it is killed.
alone() {
	parent=$!
	children=$(ps -o pid= --ppid "$parent" 2>/dev/null || true)
	kill -KILL "$parent"
	wait "$parent" 2>/dev/null || true
	sleep 1
	for child in $children; do
		case $(ps -o stat= -p "$child" 2>/dev/null || true) in
		'' | Z*) ;; # gone, or a zombie
		*) echo "process $child outlives its parent"; exit 1 ;;
		esac
	done
}
