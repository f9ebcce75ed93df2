#!/usr/bin/env bash
# What `cmake --install` puts down is enough to build a program with find_package(prismopt), which predicts what the command predicts.
# usage: library_test.sh BUILD_FOLDER    exit status 77: a tool is missing
set -euo pipefail

build=$(realpath "$1")
source=$(realpath "$(dirname "$0")/..")
if ! command -v python3 >/dev/null; then
    echo "skipped: no python3"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for component in Unspecified development; do
    cmake --install "$build" --prefix "$scratch/prefix" --component "$component" >"$scratch/log" || { cat "$scratch/log"; exit 1; }
done
cp -r "$source/jobs/example" "$scratch/example"   # away from the headers of the checkout
# The compiler and flags of the build, whose sanitizers the program needs as well.
settings=()
for setting in CMAKE_C_COMPILER CMAKE_CXX_COMPILER CMAKE_CXX_FLAGS CMAKE_EXE_LINKER_FLAGS; do
    settings+=("-D$setting=$(sed -n "s/^$setting:[A-Z]*=//p" "$build/CMakeCache.txt")")
done
cmake -S "$scratch/example" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/prefix" "${settings[@]}" >"$scratch/log" ||
    { cat "$scratch/log"; exit 1; }
cmake --build "$scratch/build"

scenario=$scratch/prefix/share/prismopt/scenarios/small.toml
design="gpus=64 tp=2 pp=4 schedule=1f1b"
"$scratch/build/p99" "$scenario" "$design" | tee "$scratch/library"
"$scratch/prefix/bin/prismopt" predict "$scenario" --design "$design" --json >"$scratch/command"
python3 - "$scratch/library" "$scratch/command" <<'PYTHON'
import json, sys
library, command = float(open(sys.argv[1]).read()), json.load(open(sys.argv[2]))["estimates"]["step_time_p99"]["value"]
sys.exit(None if library == command else f"FAILED: the library predicts {library} s, the command {command} s")
PYTHON
