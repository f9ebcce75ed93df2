#!/usr/bin/env bash
# Everything that must hold before a change is shared: warnings, tests, layers, format; with --all sanitizers and linters too.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: bash tests/run.sh [--all] [--tidy-all] [--stage NAME...]

Installs packages, builds build/release, runs its tests (ctest) and the format check. With CI=true, warnings are errors, the files of
each folder are compiled together, and the browser that tests reports and Slurm are installed too.
  --all       all stages, on a quiet machine; hours: of unit tests under AddressSanitizer with UndefinedBehaviorSanitizer (dev), of
              tests that start threads under ThreadSanitizer (tsan), of tests labelled `long` (long), and of clang-tidy on what the
              last 5 commits changed (tidy). Not run: ctest --preset complete (all fault tests, random spaces and fuzzers, more hours)
  --tidy-all  as --all, with clang-tidy on all sources
  --stage     only these of the stages format, dev, tsan, release, long, tidy, in this order
TEXT
}

all_stages=(format dev tsan release long tidy)
stages=(format release)
tidy=--tidy-changed
while [[ $# -gt 0 ]]; do
    case $1 in
        --all) stages=("${all_stages[@]}") ;;
        --tidy-all)
            stages=("${all_stages[@]}")
            tidy=--tidy
            ;;
        --stage)
            stages=("${@:2}")
            if [[ ${#stages[@]} -eq 0 ]]; then
                echo "run.sh: --stage needs a name; choose from: ${all_stages[*]}" >&2
                exit 2
            fi
            break
            ;;
        -h | --help) usage; exit 0 ;;
        *)
            echo "run.sh: unknown argument '$1'" >&2
            usage >&2
            exit 2
            ;;
    esac
    shift
done
for stage in "${stages[@]}"; do
    if [[ " ${all_stages[*]} " != *" $stage "* ]]; then
        echo "run.sh: unknown stage '$stage'; choose from: ${all_stages[*]}" >&2
        exit 2
    fi
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

# build PRESET TARGET [cmake option...]
build() {
    cmake --preset "$1" "${@:3}" && cmake --build --preset "$1" --target "$2"
}

# build_and_test PRESET TARGET [cmake option...]
build_and_test() {
    # One test more than there are cores: the slowest ones wait for processes that they kill.
    build "$@" && ctest --preset "$1" --parallel "$(($(nproc) + 1))"
}

# Each of these tests takes all cores.
test_long() {
    build release all && ctest --preset long
}

has() { [[ " ${stages[*]} " == *" $1 "* ]]; }

if has dev || has tsan || has tidy; then
    bash jobs/install.sh --all
elif [[ ${CI:-} == true ]]; then
    bash jobs/install.sh --browser --python
    bash jobs/install.sh --slurm || echo "run.sh: without Slurm, its tests are skipped" >&2
else
    bash jobs/install.sh
fi
if has format; then
    check bash tests/lint.sh --format
fi
if has dev; then
    check build_and_test dev all
fi
if has tsan; then
    check build_and_test tsan thread_tests
fi
# The build is the quick start's; warnings stop it only where nobody would read them.
if has release; then
    if [[ ${CI:-} == true ]]; then
        check build_and_test release all -DPRISMOPT_WARNINGS_AS_ERRORS=ON -DPRISMOPT_UNITY_BUILD=ON
    else
        check build_and_test release all
    fi
fi
if has long; then
    check test_long
fi
if has tidy; then
    check bash tests/lint.sh "$tidy"
fi

if [[ ${#failed[@]} -gt 0 ]]; then
    printf '\nrun.sh: failed:\n'
    printf '  %s\n' "${failed[@]}"
    exit 1
fi
printf '\nrun.sh: all checks passed\n'
