#!/usr/bin/env bash
# The Debian packages: what is in them, what they depend on, and that program and Python module run.
# usage: package_test.sh BUILD_FOLDER    exit status 77: the tools that make packages are missing
set -euo pipefail

build=$1
for tool in cpack dpkg-deb dpkg-shlibdeps; do
    if ! command -v "$tool" >/dev/null; then
        echo "skipped: no $tool; install cmake and dpkg-dev"
        exit 77
    fi
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cpack -G DEB --config "$build/CPackConfig.cmake" -B "$scratch" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
package=$(find "$scratch" -maxdepth 1 -name 'prismopt_*.deb')
dpkg-deb -I "$package"

depends=$(dpkg-deb -f "$package" Depends)
[[ $depends =~ (openmpi-bin|mpich) ]] || { echo "FAILED: it does not depend on a launcher: $depends"; exit 1; }
mpi=libopenmpi
[[ $depends == *openmpi-bin* ]] || mpi=libmpich
for library in "$mpi" libhdf5 libnlopt libboost-program-options libc6; do
    [[ $depends == *"$library"* ]] || { echo "FAILED: it does not depend on $library: $depends"; exit 1; }
done
# The program was built against these, so each must be there: by its name, or by what provides it.
dpkg-query --show --showformat '${Package}, ${Provides}\n' | tr ',' '\n' | sed 's/^ *//; s/ *(.*//' >"$scratch/installed"
for name in $(tr ',' '\n' <<<"$depends" | sed 's/ *(.*//; s/|.*//'); do
    grep -qxF "${name%%:*}" "$scratch/installed" || { echo "FAILED: $name is no installed package"; exit 1; }
done

[[ $(dpkg-deb -f "$package" Maintainer) == *"<"*"@"*">" ]] || { echo "FAILED: no maintainer"; exit 1; }
dpkg-deb -x "$package" "$scratch/root"
for file in bin/prismopt share/man/man1/prismopt.1 share/bash-completion/completions/prismopt share/zsh/vendor-completions/_prismopt \
    share/prismopt/scenario.schema.json share/prismopt/scenarios/small.toml share/doc/prismopt/copyright \
    share/prismopt/slurm/search.sbatch share/prismopt/slurm/array.sbatch share/prismopt/campaign share/doc/prismopt/results/README.md; do
    [[ -s $scratch/root/usr/$file ]] || { echo "FAILED: no $file"; exit 1; }
done
"$scratch/root/usr/bin/prismopt" --version
"$scratch/root/usr/bin/prismopt" validate "$scratch/root/usr/share/prismopt/scenarios/small.toml"

module=$(find "$scratch" -maxdepth 1 -name 'python3-prismopt_*.deb')
if [[ -z $module ]]; then
    echo "the Python module was not built: its package is not checked"
    exit 0
fi
depends=$(dpkg-deb -f "$module" Depends)
for library in "python3 (>= " "python3 (<< " python3-numpy libhdf5 libc6; do
    [[ $depends == *"$library"* ]] || { echo "FAILED: the module does not depend on $library: $depends"; exit 1; }
done
dpkg-deb -x "$module" "$scratch/module"
PYTHONPATH=$scratch/module/usr/lib/python3/dist-packages /usr/bin/python3 -B -c '
import sys, prismopt
assert prismopt.__file__.startswith(sys.argv[1]), prismopt.__file__
print(prismopt.Scenario.read(sys.argv[2]).predict("gpus=64 tp=2 pp=4", draws=128).training_time_p99)
' "$scratch" "$scratch/root/usr/share/prismopt/scenarios/small.toml"
