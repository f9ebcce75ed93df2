#!/usr/bin/env bash
# All shell scripts of the project are clean under shellcheck; exit status 77 reports to ctest that there is none.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
if ! command -v shellcheck >/dev/null; then
    echo "skipped: no shellcheck (bash jobs/install.sh --all brings it)"
    exit 77
fi
shellcheck .ci/run jobs/*.sh jobs/slurm/*.sbatch tests/*.sh tests/scripts/*.sh tests/slurm/*.sh
