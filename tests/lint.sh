#!/usr/bin/env bash
# Format and lint checks of the project's own sources.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: bash tests/lint.sh [--format | --fix | --tidy [FILE...] | --tidy-changed | --words [FILE...]]

  --format  fails where clang-format would change a file, or a comment extends beyond 110 columns
  --fix     lets clang-format change them
  --tidy    runs clang-tidy with the compile commands of the preset release, on FILE... or on all sources
  --tidy-changed  runs it on the sources that changed in the last 5 commits or since
  --words   fails where a word of tests/words.txt occurs in FILE..., or in all pages and sources (literals, comments, names of C++);
            also prints spellings in pages that codespell doubts, without failing
TEXT
}

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
mapfile -t sources < <(find model search io optimizer tests -name '*.cpp' -o -name '*.hpp' | sort)

case ${1:-} in
    --format)
        clang-format --dry-run -Werror "${sources[@]}"
        # clang-format leaves comments as they are.
        if awk 'length > 110 && /^ *\/\// {print FILENAME ":" FNR ": a comment beyond 110 columns"; long = 1} END {exit !long}' \
            "${sources[@]}"; then
            exit 1
        fi
        echo "lint.sh: ${#sources[@]} files are formatted"
        ;;
    --fix)
        clang-format -i "${sources[@]}"
        ;;
    --tidy | --tidy-changed)
        if [[ ! -d build/release/generated ]]; then
            echo "lint.sh: clang-tidy reads headers that a build writes: cmake --preset release && cmake --build --preset release" >&2
            exit 1
        fi
        which=$1
        shift
        if [[ $# -gt 0 ]]; then
            files=("$@")
        elif [[ $which == --tidy-changed ]]; then
            since=$(git rev-list --max-count=6 HEAD | tail -n 1)
            mapfile -t files < <(git diff --name-only --diff-filter=d "$since" -- '*.cpp')
        else
            mapfile -t files < <(printf '%s\n' "${sources[@]}" | grep '\.cpp$')
        fi
        # Without the compiler's own precompiled headers, which clang cannot read: it also finds includes that they hide.
        cmake --preset release -B build/tidy -DPRISMOPT_UNITY_BUILD=OFF > build/tidy.log || { cat build/tidy.log >&2; exit 1; }
        sed -E -i 's/ -Winvalid-pch -include [^ ]*cmake_pch[^ ]*//; s|/build/tidy/|/build/release/|g' build/tidy/compile_commands.json
        printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" clang-tidy -p build/tidy --quiet
        echo "lint.sh: clang-tidy has no complaint about ${#files[@]} files"
        ;;
    --words)
        shift
        found=0
        python3 -B tests/words.py "$@" || found=1
        if [[ $# -gt 0 ]]; then
            mapfile -t pages < <(printf '%s\n' "$@" | grep '\.md$')
        else
            mapfile -t pages < <(git ls-files '*.md')
        fi
        if ! command -v codespell > /dev/null; then
            echo "lint.sh: codespell is missing, so spellings are not checked; bash jobs/install.sh --all installs it"
        elif [[ ${#pages[@]} -gt 0 ]]; then
            codespell "${pages[@]}" || true
        fi
        exit $found
        ;;
    -h | --help) usage ;;
    *)
        echo "lint.sh: unknown argument '${1:-}'" >&2
        usage >&2
        exit 2
        ;;
esac
