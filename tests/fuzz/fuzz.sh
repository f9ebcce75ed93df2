#!/usr/bin/env bash
# Builds the fuzzers with clang and runs each for some time on its corpus; fails where one finds something.
set -euo pipefail

usage="usage: bash tests/fuzz/fuzz.sh SECONDS [TARGET...]    targets: scenarios traces results configurations logs tables learned (default: all)
Exit code 77: clang or its libFuzzer is missing. New inputs and findings: build/fuzz/found/TARGET/."
[[ ${1:-} =~ ^[0-9]+$ ]] || { echo "$usage" >&2; exit 2; }
seconds=$1
shift
targets=("$@")
[[ $# -gt 0 ]] || targets=(scenarios traces results configurations logs tables learned)

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
command -v clang++ >/dev/null || { echo "fuzz.sh: clang++ is missing; install clang" >&2; exit 77; }
echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
    clang++ -fsanitize=fuzzer -x c++ - -o /dev/null 2>/dev/null || { echo "fuzz.sh: this clang has no libFuzzer" >&2; exit 77; }

cmake -S . -B build/fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DPRISMOPT_FUZZ=ON -DPRISMOPT_BENCHMARKS=OFF \
    -DPRISMOPT_UNITY_BUILD=ON -DBUILD_TESTING=OFF -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -gline-tables-only" >/dev/null
cmake --build build/fuzz --target "${targets[@]/%/_fuzz}"

export LSAN_OPTIONS=suppressions=tests/fuzz/lsan.supp:print_suppressions=0

corpora() {
    case $1 in
        scenarios) echo jobs/scenarios tests/fuzz/scenarios ;;
        traces) echo tests/fuzz/corpus ;;
        *) echo "tests/fuzz/$1" ;;
    esac
}

failed=()
for target in "${targets[@]}"; do
    printf '\n== %s\n' "$target"
    longest=65536
    [[ $target != results ]] || longest=262144  # a study with few plans has 160 kB
    mkdir -p "build/fuzz/found/$target"
    # Words are separate arguments.
    # shellcheck disable=SC2046
    "build/fuzz/${target}_fuzz" -max_len="$longest" -max_total_time="$seconds" -timeout=25 -rss_limit_mb=4096 -print_final_stats=1 -verbosity=0 \
        -artifact_prefix="build/fuzz/found/$target/" "build/fuzz/found/$target" $(corpora "$target") || failed+=("$target")
done
[[ ${#failed[@]} -eq 0 ]] || { echo "fuzz.sh: found something: ${failed[*]}; see build/fuzz/found" >&2; exit 1; }
