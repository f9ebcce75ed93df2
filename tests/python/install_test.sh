#!/usr/bin/env bash
# `pip install .` without a network, in a virtual environment with the modules of the system; and what `cmake --install` puts down.
# usage: install_test.sh BUILD_FOLDER SMALL_TOML    exit status 77: a tool is missing
set -euo pipefail

build=$(realpath "$1")
small=$(realpath "$2")
source=$(realpath "$(dirname "$0")/../..")
python=/usr/bin/python3
if ! "$python" -c 'import setuptools, ensurepip, numpy, pip, wheel, venv' 2>/dev/null; then
    echo "skipped: install python3-venv, python3-pip, python3-setuptools, python3-wheel and python3-numpy"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat >"$scratch/use.py" <<'PYTHON'
import sys, prismopt
assert prismopt.__file__.startswith(sys.argv[1]), prismopt.__file__
print(repr(float(prismopt.Scenario.read(sys.argv[2]).predict("gpus=64 tp=2 pp=4 schedule=1f1b", draws=256).training_time_p99)))
PYTHON
cd "$scratch"

# Of the sources alone, as a checkout has them; what the build folder has is used again.
mkdir "$scratch/source"
tar -C "$source" -cf - setup.py setup.cfg LICENSE README.md CMakeLists.txt optimizer/python | tar -C "$scratch/source" -xf -
"$python" -m venv --system-site-packages "$scratch/venv"
PRISMOPT_BUILD=$build "$scratch/venv/bin/pip" install --no-index "$scratch/source" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
if grep -i deprecat "$scratch/log"; then
    exit 1
fi
"$scratch/venv/bin/python" -B use.py "$scratch/venv" "$small" | tee by_pip
"$scratch/venv/bin/pip" show prismopt >shown
grep -q '^Version: [0-9]' shown

cmake --install "$build" --prefix "$scratch/prefix" --component python >"$scratch/log" || { cat "$scratch/log"; exit 1; }
PYTHONPATH=$scratch/prefix/lib/python3/dist-packages "$python" -B use.py "$scratch/prefix" "$small" | tee by_cmake
cmp by_pip by_cmake
