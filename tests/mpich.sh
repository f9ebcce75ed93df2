#!/usr/bin/env bash
# MPICH instead of Open MPI, with a serial HDF5: builds the program in a folder of its own and runs what sends messages. Not part of run.sh.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: bash tests/mpich.sh [BUILD_FOLDER]

Needs Debian's mpich, libmpich-dev and libhdf5-dev beside what jobs/install.sh installs. Builds with mpicc.mpich in BUILD_FOLDER (default:
build/mpich), then runs the MPI tests, and searches on 1, 2 and 4 ranks whose results must be equal. MPICC, MPIRUN: those of another MPI.
TEXT
}

if [[ ${1:-} == -h || ${1:-} == --help ]]; then
    usage
    exit 0
fi
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
build=${1:-build/mpich}
mpicc=${MPICC:-mpicc.mpich}
mpirun=${MPIRUN:-mpirun.mpich}
for tool in "$mpicc" "$mpirun"; do
    if ! command -v "$tool" >/dev/null; then
        echo "mpich.sh: $tool is missing; install mpich, libmpich-dev and libhdf5-dev" >&2
        exit 1
    fi
done

cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" -DPRISMOPT_UNITY_BUILD=ON -DPRISMOPT_BENCHMARKS=OFF -DPRISMOPT_PYTHON=OFF \
    -DMPI_C_COMPILER="$(command -v "$mpicc")" -DMPIEXEC_EXECUTABLE="$(command -v "$mpirun")"
cmake --build "$build" --target prismopt optimizer_mpi_tests failing_rank
"$build/prismopt" --version
ctest --test-dir "$build" --label-regex '^mpi$' --output-on-failure --no-tests=error
OMP_NUM_THREADS=1 python3 -B tests/cli/sameness_test.py "$build/prismopt" "$(command -v "$mpirun")" jobs/scenarios/small.toml
echo "mpich.sh: all passed"
