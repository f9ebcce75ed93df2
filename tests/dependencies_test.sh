#!/usr/bin/env bash
# jobs/install.sh names all that a clean Debian 12 needs: each package whose headers a build read is among those that its list brings.
# usage: dependencies_test.sh BUILD_FOLDER    exit status 77: not Debian, no package lists, or no build by ninja
set -euo pipefail

build=$1
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
skip() {
    echo "skipped: $1"
    exit 77
}
if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    skip "no apt-get; the packages of other systems are not tested"
fi
[[ $(. /etc/os-release && echo "${ID:-} ${VERSION_ID:-}") == "debian 12" ]] || skip "this is not Debian 12"
apt-cache show libeigen3-dev >/dev/null 2>&1 || skip "no lists of packages; apt-get update fetches them"
if [[ ! -f $build/.ninja_deps ]] || ! command -v ninja >/dev/null; then
    skip "no build by ninja in $build"
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

packages=()
eval "$(sed -n '/^packages=(/,/^)/p' "$root/jobs/install.sh")"
[[ ${#packages[@]} -gt 0 ]] || { echo "FAILED: jobs/install.sh has no list packages=(...)"; exit 1; }
# As if nothing were installed.
apt-get install --simulate --no-install-recommends -o Dir::State::status=/dev/null "${packages[@]}" >"$scratch/log" 2>&1 ||
    { cat "$scratch/log"; echo "FAILED: these packages do not install together"; exit 1; }
sed -n 's/^Inst \([^ ]*\) .*/\1/p' "$scratch/log" | sort -u >"$scratch/brought"

# pagmo is a yardstick that is used where it is (install.sh --all).
ninja -C "$build" -t deps 2>/dev/null | sed -n 's/^ *\(\/usr\/include\/.*\)/\1/p' | sort -u >"$scratch/headers"
[[ -s $scratch/headers ]] || skip "no build by ninja in $build"
{ xargs -r -a "$scratch/headers" dpkg-query --search 2>/dev/null || true; } | sed 's/: .*//; s/:[a-z0-9]*//g' | tr -d ' ' | tr ',' '\n' |
    sort -u | grep -vx libpagmo-dev >"$scratch/read"
echo "$(wc -l <"$scratch/headers") headers of $(wc -l <"$scratch/read") packages"
missing=$(comm -23 "$scratch/read" "$scratch/brought")
[[ -z $missing ]] || { echo "FAILED: jobs/install.sh does not bring:" "$missing"; exit 1; }
