#!/usr/bin/env bash
# tests/run.sh in a tree of its own, with stand-ins for what it calls.
source "$(dirname -- "${BASH_SOURCE[0]}")/support.sh"

tree=$scratch/tree
mkdir -p "$tree/jobs" "$tree/tests"
cp "$root/tests/run.sh" "$tree/tests/"
# shellcheck disable=SC2016  # expanded by the stand-ins
echo 'echo "install.sh $*" >>"$calls"' >"$tree/jobs/install.sh"
# shellcheck disable=SC2016
echo 'echo "lint.sh $*" >>"$calls"; exit "${lint_status:-0}"' >"$tree/tests/lint.sh"
# shellcheck disable=SC2016
stand_in cmake 'exit "${cmake_status:-0}"'
# shellcheck disable=SC2016
stand_in ctest 'echo "100% tests passed"; exit "${ctest_status:-0}"'
stand_in nproc 'echo 2'

everyday_checks() {
    run env -u CI bash "$tree/tests/run.sh"
    expect_status 0
    expect_call "install.sh "
    expect_call "lint.sh --format"
    expect_call "cmake --preset release"
    expect_call "cmake --build --preset release --target all"
    expect_call "ctest --preset release --parallel 3"
    expect_said "100% tests passed"
    expect_said "all checks passed"
}

warnings_are_errors_in_ci() {
    run env CI=true bash "$tree/tests/run.sh"
    expect_status 0
    expect_call "install.sh --slurm"
    expect_call "cmake --preset release -DPRISMOPT_WARNINGS_AS_ERRORS=ON -DPRISMOPT_UNITY_BUILD=ON"
}

all_checks() {
    run bash "$tree/tests/run.sh" --all
    expect_status 0
    expect_call "install.sh --all"
    expect_call "ctest --preset dev --parallel 3"
    expect_call "ctest --preset tsan --parallel 3"
    expect_call "ctest --preset release --parallel 3"
    expect_call "ctest --preset long"
    expect_call "cmake --build --preset tsan --target thread_tests"
    expect_call "lint.sh --tidy-changed"
    run bash "$tree/tests/run.sh" --tidy-all
    expect_status 0
    expect_call "lint.sh --tidy"
}

single_stages() {
    run bash "$tree/tests/run.sh" --stage long
    expect_status 0
    expect_call "cmake --build --preset release --target all"
    expect_call "ctest --preset long"
    expect_no_call lint.sh
    run bash "$tree/tests/run.sh" --stage tsan tidy
    expect_status 0
    expect_call "install.sh --all"
    expect_call "ctest --preset tsan --parallel 3"
    expect_call "lint.sh --tidy-changed"
    for wrong in "" quick; do
        # shellcheck disable=SC2086  # no name at all
        run bash "$tree/tests/run.sh" --stage $wrong
        expect_status 2
        expect_said "choose from: format dev tsan release long tidy"
    done
}

a_failed_format_check_does_not_hide_the_tests() {
    run env lint_status=1 bash "$tree/tests/run.sh"
    expect_status 1
    expect_said "bash tests/lint.sh --format"
    expect_call "ctest --preset release --parallel 3"
}

failed_tests_fail_it() {
    run env ctest_status=8 bash "$tree/tests/run.sh"
    expect_status 1
    expect_silent_on "all checks passed"
}

a_failed_build_runs_no_tests() {
    run env cmake_status=1 bash "$tree/tests/run.sh"
    expect_status 1
    expect_no_call ctest
}

unknown_argument() {
    run bash "$tree/tests/run.sh" --quick
    expect_status 2
    expect_said "usage:"
    expect_no_call cmake
}

everyday_checks
warnings_are_errors_in_ci
all_checks
single_stages
a_failed_format_check_does_not_hide_the_tests
failed_tests_fail_it
a_failed_build_runs_no_tests
unknown_argument
finish
