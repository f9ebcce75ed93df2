#!/usr/bin/env bash
# Installs what prismopt is built, run and tested with: Debian 12's own packages, and the charts of its reports by npm. Does nothing when
# all is there.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: bash jobs/install.sh [--browser] [--slurm] [--python] [--all]

Installs the Debian packages that prismopt needs, as root or through sudo.
  --browser  also Chromium and what drives it, for the tests of HTML reports
  --slurm    also Slurm and its munge, for the tests that start one
  --python   also what tests the Python module and its notebook: pandas, matplotlib, Optuna, Jupyter's kernel, pip
  --all      also these, and the tools of `tests/run.sh --all`: clang, clang-tidy, ThreadSanitizer, shellcheck; pagmo, the
             yardstick of jobs/search_quality_study; matplotlib, for jobs/failure_study and jobs/sensitivity_study; and
             PyTorch, for jobs/capture_network.py (1 GB)
TEXT
}

packages=(
    g++ cmake make ninja-build git pkg-config
    libopenmpi-dev openmpi-bin
    libhdf5-dev
    libboost-dev libboost-program-options-dev
    librandom123-dev libtomlplusplus-dev nlohmann-json3-dev libfmt-dev libspdlog-dev
    libnlopt-dev libnlopt-cxx-dev libeigen3-dev
    zlib1g-dev libcsv-dev libyaml-dev
    libgtest-dev libgmock-dev libbenchmark-dev
    python3 python3-h5py python3-xarray python3-h5netcdf python3-jsonschema
    python3-dev pybind11-dev python3-numpy
    clang-format dpkg-dev
)
module=(
    python3-pandas python3-matplotlib python3-optuna python3-nbclient python3-ipykernel
    python3-venv python3-pip python3-setuptools python3-wheel
)
tools=(libpagmo-dev clang clang-tidy libomp-dev libclang-rt-dev shellcheck codespell python3-matplotlib python3-torch)

other_systems() {
    cat >&2 <<TEXT
install.sh: this system has no apt-get and dpkg-query; only Debian 12 is tested.
Install the counterparts of these Debian packages, then build as CONTRIBUTING.md shows:
  ${packages[*]}
Untested names elsewhere:
  Fedora  gcc-c++ cmake ninja-build git openmpi-devel hdf5-devel boost-devel Random123-devel tomlplusplus-devel
          json-devel fmt-devel spdlog-devel NLopt-devel eigen3-devel zlib-devel libcsv-devel libyaml-devel gtest-devel gmock-devel google-benchmark-devel python3-devel pybind11-devel python3-h5py python3-xarray
  Spack   cmake ninja openmpi hdf5+hl~mpi boost+program_options random123 tomlplusplus nlohmann-json fmt spdlog nlopt eigen zlib libcsv libyaml
          googletest+gmock benchmark py-pybind11 py-numpy py-h5py py-xarray py-h5netcdf
TEXT
    exit 1
}

slurm=(slurm-wlm munge)
browser=false
for argument in "$@"; do
    case $argument in
        --browser) browser=true ;;
        --slurm) packages+=("${slurm[@]}") ;;
        --python) packages+=("${module[@]}") ;;
        --all)
            browser=true
            packages+=("${tools[@]}" "${slurm[@]}" "${module[@]}")
            ;;
        -h | --help) usage; exit 0 ;;
        *)
            echo "install.sh: unknown argument '$argument'" >&2
            usage >&2
            exit 2
            ;;
    esac
done

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    other_systems
fi

if $browser; then
    packages+=(chromium)
fi
# Node.js of another source brings npm along, and does not go with Debian's.
if ! command -v npm >/dev/null; then
    packages+=(nodejs npm)
fi

as_root=()
if [[ $(id -u) -ne 0 ]]; then
    as_root=(sudo)
fi

install_packages() {
    local installed missing=() package
    # dpkg-query fails when it does not know one of the names; what it prints of the others counts.
    installed=$(dpkg-query --show --showformat '${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null || true)
    for package in "${packages[@]}"; do
        if ! grep -qxF "installed $package" <<<"$installed"; then
            missing+=("$package")
        fi
    done
    if [[ ${#missing[@]} -eq 0 ]]; then
        echo "install.sh: all ${#packages[@]} packages are installed"
        return
    fi
    if [[ $(id -u) -ne 0 ]] && ! command -v sudo >/dev/null; then
        echo "install.sh: packages are missing, and only root (or sudo, which is not here) may install them; as root run:" >&2
        echo "  apt-get update && apt-get install --no-install-recommends ${missing[*]}" >&2
        exit 1
    fi
    local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3)
    echo "install.sh: installing ${missing[*]}"
    if ! "${apt[@]}" update -qq; then
        echo "install.sh: the package lists could not all be refreshed; trying with those at hand" >&2
    fi
    "${apt[@]}" install -y -qq --no-install-recommends "${missing[@]}"
}

tries=(--fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=1000)
# What the lock file beside a package.json names, unless it is there.
install_modules() {
    if [[ -f $1/node_modules/.package-lock.json && ! $1/package-lock.json -nt $1/node_modules/.package-lock.json ]]; then
        echo "install.sh: the modules of $1 are installed"
    else
        echo "install.sh: npm ci --prefix $1"
        # Without a network, two tries of a second each instead of a minute.
        if ! npm ci --prefix "$1" --no-audit --no-fund --loglevel=error "${tries[@]}"; then
            echo "install.sh: npm could not install the modules of $1; without a network, unpack the npm package of echarts that" \
                "io/html/package-lock.json names, and configure with -DECHARTS_FOLDER=FOLDER" >&2
            exit 1
        fi
    fi
}

install_packages
install_modules io/html
if $browser; then
    install_modules tests/browser
fi
