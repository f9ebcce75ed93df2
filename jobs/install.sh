#!/usr/bin/env bash
# Installs what prismopt is built, run and tested with, from Debian 12's own packages. Does nothing when all is there.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: bash jobs/install.sh [--all]

Installs the Debian packages that prismopt needs, as root or through sudo.
  --all    also the tools of `tests/run.sh --all`: clang, clang-tidy, ThreadSanitizer, shellcheck; and pagmo, the yardstick
           of prismopt-search-bench
TEXT
}

packages=(
    g++ cmake make ninja-build git pkg-config
    libopenmpi-dev openmpi-bin
    libhdf5-openmpi-dev
    libboost-dev libboost-program-options-dev
    librandom123-dev libtomlplusplus-dev nlohmann-json3-dev libfmt-dev libspdlog-dev
    libnlopt-dev libnlopt-cxx-dev
    zlib1g-dev libcsv-dev
    libgtest-dev libgmock-dev libbenchmark-dev
    python3 python3-h5py python3-xarray python3-h5netcdf
    clang-format
)
tools=(libpagmo-dev clang clang-tidy libomp-dev libclang-rt-dev shellcheck)

other_systems() {
    cat >&2 <<TEXT
install.sh: this system has no apt-get and dpkg-query; only Debian 12 is tested.
Install the counterparts of these Debian packages, then build as CONTRIBUTING.md shows:
  ${packages[*]}
Untested names elsewhere:
  Fedora  gcc-c++ cmake ninja-build git openmpi-devel hdf5-openmpi-devel boost-devel Random123-devel tomlplusplus-devel
          json-devel fmt-devel spdlog-devel NLopt-devel zlib-devel libcsv-devel gtest-devel gmock-devel google-benchmark-devel python3-h5py python3-xarray
  Spack   cmake ninja openmpi hdf5+mpi+hl boost+program_options random123 tomlplusplus nlohmann-json fmt spdlog nlopt zlib libcsv
          googletest+gmock benchmark py-h5py py-xarray py-h5netcdf
TEXT
    exit 1
}

for argument in "$@"; do
    case $argument in
        --all) packages+=("${tools[@]}") ;;
        -h | --help) usage; exit 0 ;;
        *)
            echo "install.sh: unknown argument '$argument'" >&2
            usage >&2
            exit 2
            ;;
    esac
done

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    other_systems
fi

# dpkg-query fails when it does not know one of the names; what it prints of the others counts.
installed=$(dpkg-query --show --showformat '${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null || true)
missing=()
for package in "${packages[@]}"; do
    if ! grep -qxF "installed $package" <<<"$installed"; then
        missing+=("$package")
    fi
done
if [[ ${#missing[@]} -eq 0 ]]; then
    echo "install.sh: all ${#packages[@]} packages are installed"
    exit 0
fi

as_root=()
if [[ $(id -u) -ne 0 ]]; then
    if ! command -v sudo >/dev/null; then
        echo "install.sh: packages are missing, and only root (or sudo, which is not here) may install them; as root run:" >&2
        echo "  apt-get update && apt-get install --no-install-recommends ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3)

echo "install.sh: installing ${missing[*]}"
if ! "${apt[@]}" update -qq; then
    echo "install.sh: the package lists could not all be refreshed; trying with those at hand" >&2
fi
"${apt[@]}" install -y -qq --no-install-recommends "${missing[@]}"
