#!/usr/bin/env bash
# Everything that must hold before a change is shared: warnings, tests, layers, format; with --all sanitizers and linters too.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: bash tests/run.sh [--all] [--tidy-all]

Installs packages, builds build/release, runs its tests (ctest) and the format check. With CI=true, warnings are errors, the files of
each folder are compiled together, and the browser that tests reports and Slurm are installed too.
  --all       also: tests labelled `long`; unit tests under AddressSanitizer with UndefinedBehaviorSanitizer (preset dev); tests that
              start threads under ThreadSanitizer (tsan); clang-tidy on what the last 5 commits changed. Not run: ctest --preset complete (all fault tests, random spaces and fuzzers, hours)
  --tidy-all  as --all, with clang-tidy on all sources
TEXT
}

all=false
tidy=--tidy-changed
for argument in "$@"; do
    case $argument in
        --all) all=true ;;
        --tidy-all)
            all=true
            tidy=--tidy
            ;;
        -h | --help) usage; exit 0 ;;
        *)
            echo "run.sh: unknown argument '$argument'" >&2
            usage >&2
            exit 2
            ;;
    esac
done

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

# Runs a check to its end, so that one failure does not hide another.
failed=()
check() {
    printf '\n== %s\n' "$*"
    if ! "$@"; then
        failed+=("$*")
    fi
}

# build_and_test PRESET TARGET [cmake option...]
build_and_test() {
    # One test more than there are cores: the slowest ones wait for processes that they kill.
    cmake --preset "$1" "${@:3}" && cmake --build --preset "$1" --target "$2" && ctest --preset "$1" --parallel "$(($(nproc) + 1))"
}

if $all; then
    bash jobs/install.sh --all
elif [[ ${CI:-} == true ]]; then
    bash jobs/install.sh --browser --python
    bash jobs/install.sh --slurm || echo "run.sh: without Slurm, its tests are skipped" >&2
else
    bash jobs/install.sh
fi
check bash tests/lint.sh --format
if $all; then
    check build_and_test dev all
    check build_and_test tsan thread_tests
fi
# The build is the quick start's; warnings stop it only where nobody would read them.
if [[ ${CI:-} == true ]]; then
    check build_and_test release all -DPRISMOPT_WARNINGS_AS_ERRORS=ON -DPRISMOPT_UNITY_BUILD=ON
else
    check build_and_test release all
fi
if $all; then
    check ctest --preset long
    check bash tests/lint.sh "$tidy"
fi

if [[ ${#failed[@]} -gt 0 ]]; then
    printf '\nrun.sh: failed:\n'
    printf '  %s\n' "${failed[@]}"
    exit 1
fi
printf '\nrun.sh: all checks passed\n'
