#!/usr/bin/env bash
# Format and lint checks of the project's own sources.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: bash tests/lint.sh [--format | --fix | --tidy [FILE...] | --tidy-changed | --words [FILE...]]

  --format  fails where clang-format would change a file
  --fix     lets clang-format change them
  --tidy    runs clang-tidy with the compile commands of the preset release, on FILE... or on all sources
  --tidy-changed  runs it on the sources that changed in the last 5 commits or since
  --words   prints lines of FILE..., or of all guides and of the messages of commands and reports, with words of tests/words.txt, and
            spellings in guides that codespell doubts; fails on none. It reads the string literals of C++ sources
TEXT
}

# Prints the text of FILE...: all lines of a page, the string literals of a C++ source, after file name and line number.
texts() {
    local file
    for file in "$@"; do
        case $file in
            *.cpp | *.hpp) grep -noE --with-filename '"([^"\\]|\\.)*"' "$file" | sed 's|\\n| |g' || true ;;
            *) grep -n --with-filename '' "$file" || true ;;
        esac
    done
}

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
mapfile -t sources < <(find model search io optimizer tests -name '*.cpp' -o -name '*.hpp' | sort)

case ${1:-} in
    --format)
        clang-format --dry-run -Werror "${sources[@]}"
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
        if [[ $# -gt 0 ]]; then
            pages=("$@")
        else
            mapfile -t pages < <(git ls-files '*.md' 'optimizer/commands/*.cpp' 'io/report/*.cpp' 'io/compare/*.cpp')
        fi
        read_texts=$(texts "${pages[@]}")
        while IFS=$'\t' read -r words instead; do
            if [[ -n $words && $words != \#* ]]; then
                grep -E "$words" <<< "$read_texts" | sed "s|\$|   [write: $instead]|" || true
            fi
        done < tests/words.txt
        mapfile -t guides < <(printf '%s\n' "${pages[@]}" | grep -v '\.[ch]pp$')
        if command -v codespell > /dev/null; then
            if [[ ${#guides[@]} -gt 0 ]]; then
                codespell "${guides[@]}" || true
            fi
        else
            echo "lint.sh: codespell is missing, so spellings are not checked; bash jobs/install.sh --all installs it"
        fi
        ;;
    -h | --help) usage ;;
    *)
        echo "lint.sh: unknown argument '${1:-}'" >&2
        usage >&2
        exit 2
        ;;
esac
