# tap.sh - what the test scripts share; read with `. tests/tap.sh`.
#
# A script calls ok, not_ok or skip once per test and finish at its end. Run
# from the project's root. The Makefile names the program and where it was
# built; by hand it is the usual place.
# shellcheck shell=sh
set -u

ATTNVIZ=${ATTNVIZ:-build/attnviz}
ATTNVIZ_BUILD=${ATTNVIZ_BUILD:-build}
ATTNVIZ_PREFIX=${ATTNVIZ_PREFIX:-/usr/local}
export ATTNVIZ
[ -x "$ATTNVIZ" ] || {
    echo "not ok 1 - $ATTNVIZ is no program"
    exit 1
}

tap_count=0
tap_failed=0
tap_dir=$(mktemp -d) || exit 1
trap 'rm -rf "$tap_dir"' EXIT

ok() { # NAME
    tap_count=$((tap_count + 1))
    printf 'ok %d - %s\n' "$tap_count" "$1"
}

not_ok() { # NAME [REASON]
    tap_count=$((tap_count + 1))
    tap_failed=$((tap_failed + 1))
    printf 'not ok %d - %s\n' "$tap_count" "$1"
    [ $# -lt 2 ] || printf '%s\n' "$2" | sed 's/^/# /'
}

skip() { # NAME REASON
    tap_count=$((tap_count + 1))
    printf 'ok %d - %s # SKIP %s\n' "$tap_count" "$1" "$2"
}

finish() {
    echo "1..$tap_count"
    [ "$tap_failed" -eq 0 ]
    exit
}

# Runs the program on the rest of the words, leaves standard output in
# $tap_dir/out, standard error in $tap_dir/err, and checks the exit status.
# Returns 1, having said why, when that is not STATUS.
run() { # STATUS WORD...
    run_want=$1
    shift
    "$ATTNVIZ" "$@" >"$tap_dir/out" 2>"$tap_dir/err" </dev/null
    run_got=$?
    [ "$run_got" -eq "$run_want" ] || {
        printf '# attnviz %s: exit status %d, not %d\n' "$*" "$run_got" "$run_want"
        sed 's/^/# /' "$tap_dir/err"
        return 1
    }
}

# make as the parent make was called, without its job slots.
submake() { # WORD...
    MAKEFLAGS=$(printf '%s' "${MAKEFLAGS:-}" | sed 's/--jobserver[^ ]*//; s/ *-j[0-9]*//') make -s "$@"
}
