#!/usr/bin/env bash
# From a fresh Debian 12 machine to a Pareto front: installs, builds, searches on two MPI ranks, prints the report.
set -euo pipefail

if [[ $# -gt 0 ]]; then
    cat <<'TEXT'
usage: bash jobs/quickstart.sh

Installs packages, builds build/release, searches jobs/scenarios/llama3-405b-16k.toml on 2 MPI ranks, and prints the
front, and writes its report. Results go to build/quickstart/; running it again replaces them.
TEXT
    if [[ $1 == -h || $1 == --help ]]; then exit 0; fi
    echo "quickstart.sh: unknown argument '$1'" >&2
    exit 2
fi

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
scenario=jobs/scenarios/llama3-405b-16k.toml
results=build/quickstart/llama3-405b-16k.h5
table=build/quickstart/llama3-405b-16k.csv
page=build/quickstart/llama3-405b-16k.html

bash jobs/install.sh
first=()
if [[ ! -e build/release ]]; then
    first=(-DPRISMOPT_UNITY_BUILD=ON)   # a first build takes half the time
fi
cmake --preset release "${first[@]}"
cmake --build --preset release --target installed

# One thread a rank. Two ranks may share one core of a small machine, and in a container often run as root, without an ssh
# client, and without the right to read each other's memory.
export OMP_NUM_THREADS=1
export OMPI_MCA_plm_rsh_agent=
export OMPI_MCA_btl_vader_single_copy_mechanism=none
if [[ $(id -u) -eq 0 ]]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

mkdir -p build/quickstart
search=(mpirun -n 2 --bind-to none --oversubscribe build/release/prismopt search "$scenario" --out "$results" --force)
printf '\n$ %s\n' "${search[*]}"
started=$SECONDS
"${search[@]}"
took=$((SECONDS - started))

build/release/prismopt report "$results" --csv "$table" --html "$page" >/dev/null

cat <<TEXT

The search took $took s on 2 ranks. Its results:
  $PWD/$results
  $PWD/$table
  $PWD/$page    open this one in a browser
TEXT
