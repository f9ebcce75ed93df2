#!/usr/bin/env bash
# jobs/quickstart.sh in a tree of its own, with stand-ins for the build tools, MPI and the program.
source "$(dirname -- "${BASH_SOURCE[0]}")/support.sh"

# The test presets of CMake set these for mpirun.
unset OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM

tree=$scratch/tree
mkdir -p "$tree/jobs" "$tree/build/release"
cp "$root/jobs/quickstart.sh" "$tree/jobs/"
# shellcheck disable=SC2016  # expanded by the stand-ins
echo 'echo "install.sh $*" >>"$calls"' >"$tree/jobs/install.sh"
stand_in cmake ''
# shellcheck disable=SC2016
stand_in mpirun 'echo "threads $OMP_NUM_THREADS, root ${OMPI_ALLOW_RUN_AS_ROOT:-no}" >>"$calls"; echo "the front"; exit "${search_status:-0}"'
# shellcheck disable=SC2016
stand_in id 'echo "${user:-0}"'
stand_in prismopt ''
mv "$scratch/bin/prismopt" "$tree/build/release/"

search="mpirun -n 2 --bind-to none --oversubscribe build/release/prismopt search jobs/scenarios/llama3-405b-16k.toml"
search+=" --out build/quickstart/llama3-405b-16k.h5 --force"

builds_searches_and_reports() {
    run bash "$tree/jobs/quickstart.sh"
    expect_status 0
    expect_call "install.sh "
    expect_call "cmake --preset release"
    expect_call "cmake --build --preset release --target installed"
    expect_call "$search"
    expect_call "threads 1, root 1"
    expect_call "prismopt report build/quickstart/llama3-405b-16k.h5 --csv build/quickstart/llama3-405b-16k.csv --html build/quickstart/llama3-405b-16k.html"
    expect_said "the front"
    expect_said "$tree/build/quickstart/llama3-405b-16k.csv"
    expect_said "$tree/build/quickstart/llama3-405b-16k.html"
    expect_said "The search took"
}

only_root_is_allowed_as_root() {
    run env user=1000 bash "$tree/jobs/quickstart.sh"
    expect_status 0
    expect_call "threads 1, root no"
}

a_failed_search_ends_it() {
    run env search_status=3 bash "$tree/jobs/quickstart.sh"
    expect_status 3
    expect_no_call prismopt
    expect_silent_on "The search took"
}

a_first_build_unites_folders() {
    mv "$tree/build/release" "$tree/built"
    run env search_status=3 bash "$tree/jobs/quickstart.sh"
    mv "$tree/built" "$tree/build/release"
    expect_status 3
    expect_call "cmake --preset release -DPRISMOPT_UNITY_BUILD=ON"
}

unknown_argument() {
    run bash "$tree/jobs/quickstart.sh" --fast
    expect_status 2
    expect_said "usage:"
    expect_no_call cmake
}

builds_searches_and_reports
builds_searches_and_reports   # again: results are there
only_root_is_allowed_as_root
a_failed_search_ends_it
a_first_build_unites_folders
unknown_argument
finish
