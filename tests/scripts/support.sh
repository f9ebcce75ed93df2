# Sourced by the tests of shell scripts: a scratch directory, stand-ins for programs, and expectations.
# shellcheck shell=bash disable=SC2034
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
calls=$scratch/calls
failures=0
export calls

mkdir "$scratch/bin"
# The only programs that a script under test finds, besides its stand-ins.
for program in bash cat dirname env grep mkdir; do
    ln -s "$(command -v "$program")" "$scratch/bin/$program"
done

# stand_in NAME BODY: a program that writes its name and arguments to $calls, then runs BODY.
stand_in() {
    # shellcheck disable=SC2016  # expanded by the stand-in
    printf '#!/usr/bin/env bash\necho "%s $*" >>"$calls"\n%s\n' "$1" "$2" >"$scratch/bin/$1"
    chmod +x "$scratch/bin/$1"
}

# run COMMAND...: sets `status` and `said` (standard output and error), and starts a new $calls.
run() {
    : >"$calls"
    status=0
    said=$(PATH=$scratch/bin "$@" 2>&1) || status=$?
}

fail() {
    printf 'FAILED: %s\n' "$1" >&2
    printf '  status %s, said:\n%s\n  calls:\n%s\n' "$status" "$said" "$(cat "$calls")" >&2
    failures=$((failures + 1))
}

expect_status() { [[ $status -eq $1 ]] || fail "${FUNCNAME[1]}: expected exit status $1"; }
expect_said() { [[ $said == *"$1"* ]] || fail "${FUNCNAME[1]}: expected it to say '$1'"; }
expect_silent_on() { [[ $said != *"$1"* ]] || fail "${FUNCNAME[1]}: it should not say '$1'"; }
expect_call() { grep -qxF -- "$1" "$calls" || fail "${FUNCNAME[1]}: expected the call '$1'"; }
expect_no_call() { ! grep -q -- "^$1\b" "$calls" || fail "${FUNCNAME[1]}: expected no call of '$1'"; }

# finish: the test's exit status.
finish() {
    if [[ $failures -gt 0 ]]; then
        echo "$failures expectations failed" >&2
        exit 1
    fi
    echo "all expectations hold"
}
