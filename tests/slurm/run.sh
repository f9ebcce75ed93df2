#!/usr/bin/env bash
# A real Slurm on this machine: sbatch -> USR1 before the limit -> exit code 75 -> requeue -> continued -> done, and the results are those
# of a search that nobody stopped; the same for chains of jobs with one line, with and without requeueing. Some minutes (Slurm holds a requeued job for two), root, Debian's slurm-wlm and munge. Not part of the
# default test run.
#   bash tests/slurm/run.sh [FOLDER]
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=${1:-$(mktemp -d)}
mkdir -p "$scratch" && cd "$scratch"
program=${PRISMOPT:-$root/build/release/prismopt}
for tool in slurmctld slurmd munged sbatch; do
    command -v "$tool" >/dev/null || { echo "skipped: $tool is missing; install slurm-wlm and munge"; exit 77; }
done
[[ $(id -u) -eq 0 ]] || { echo "skipped: Slurm's daemons need root here"; exit 77; }

say() { printf '%s  %s\n' "$(date +%T)" "$*"; }
stop_daemons() {
    for file in slurmd.pid slurmctld.pid; do
        [[ -s $file ]] && kill "$(<"$file")" 2>/dev/null
    done
    [[ -n ${munge_started:-} ]] && kill "$(</run/munge/munged.pid)" 2>/dev/null
    true
}
trap stop_daemons EXIT

if ! munge -n 2>/dev/null | unmunge >/dev/null 2>&1; then
    mkdir -p /run/munge && chown munge:munge /run/munge
    setpriv --reuid=munge --regid=munge --init-groups munged
    munge_started=yes
fi
host=$(hostname -s)
mkdir -p state spool
cat >slurm.conf <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
SlurmctldPort=16817
SlurmdPort=16818
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.pid
SlurmctldLogFile=$scratch/slurmctld.log
SlurmdLogFile=$scratch/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
MpiDefault=pmix
ReturnToService=2
JobRequeue=1
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 RealMemory=4000
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$scratch/slurm.conf
slurmctld -f "$SLURM_CONF"
slurmd -f "$SLURM_CONF"
for _ in $(seq 30); do
    sinfo -h -o %t 2>/dev/null | grep -q idle && break
    sleep 1
done
say "$(sinfo -h)"

# Some minutes of draws: a median has no bound, so every plan is drawn.
study_of() {  # FLEETS
    sed -e 's/^minimise = .*/minimise = ["training_time_p50", "memory", "gpus"]/' \
        -e "s/^rungs = .*/rungs = [{ fleets = 64, steps = 2 }, { fleets = $1, steps = 2 }]/" \
        -e 's/^strategy = .*//' "$root/jobs/scenarios/small.toml" | sed 's/^\[search\]/[search]\nstrategy = "exact"/'
}

field() { scontrol show job "$1" 2>/dev/null | sed -n "s/.*$2=\([A-Za-z0-9_:]*\).*/\1/p"; }

# submit STUDY OPTIONS_OF_SBATCH...: a limit of one minute, the signal 40 s before it
submit() {
    local study=$1
    shift
    PRISMOPT=$program sbatch --parsable --nodes=1 --ntasks-per-node=2 --cpus-per-task=1 --time=1 --signal=USR1@40 --chdir="$scratch" \
        --output="$scratch/$study.log" "$@" "$root/jobs/slurm/search.sbatch" study.toml "$study.h5"
}

# Waits for the end of a job, and says what it went through.
wait_for() {  # JOB STUDY
    local last=
    for _ in $(seq "${LIMIT_S:-1500}"); do
        state=$(field "$1" JobState)
        restarts=$(field "$1" Restarts)
        if [[ "$state $restarts" != "$last" ]]; then
            say "job $1: state $state, restarts $restarts, journal $(stat -c %s "$2.h5.journal" 2>/dev/null || echo none)"
            last="$state $restarts"
        fi
        [[ $state == COMPLETED || $state == FAILED || $state == TIMEOUT || -z $state ]] && return
        # Slurm holds a requeued job for two minutes; nobody waits here for another.
        if [[ $state == PENDING && ${restarts:-0} -gt 0 ]]; then
            scontrol update jobid="$1" starttime=now 2>/dev/null || true
        fi
        sleep 1
    done
}

fail() { say "FAILED: $*"; cat "$scratch"/*.log; exit 1; }

compare() {  # STUDY
    /usr/bin/python3 -B - "$root/tests/cli" "$1.h5" <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[1])
path = sys.argv[2]
sys.argv = ["", "", "", ""]
import support
one, other = support.contents_of(path), support.contents_of("straight.h5")
differing = [name for name in one if one[name] != other.get(name)]
assert list(one) == list(other) and not differing, differing
print(f"every dataset of {path} is equal to those of a search that nobody stopped")
PYTHON
}

study_of "${FLEETS:-100032}" >study.toml
say "the same without Slurm"
"$program" search study.toml --out straight.h5 >/dev/null 2>&1

say "a job that is requeued"
job=$(submit requeued)
wait_for "$job" requeued
[[ $state == COMPLETED && $restarts -ge 1 ]] || fail "$state after $restarts restarts"
compare requeued

# The same line several times, of which one job runs at a time; the later ones find a complete search.
say "a chain of jobs that are requeued"
first=$(submit chain --job-name=chain --dependency=singleton)
second=$(submit chain --job-name=chain --dependency=singleton)
wait_for "$first" chain
[[ $state == COMPLETED ]] || fail "the first job of the chain: $state"
wait_for "$second" chain
[[ $state == COMPLETED && $restarts -eq 0 ]] || fail "the second job of the chain: $state"
grep -q 'the search is complete' chain.log || fail "the second job did not find a complete search"
compare chain

say "a chain of jobs that may not be requeued"
for link in $(seq 20); do
    job=$(submit links --no-requeue --job-name=links --dependency=singleton)
    wait_for "$job" links
    [[ $state == COMPLETED ]] && break
    [[ $(field "$job" ExitCode) == 75:0 ]] || fail "a job that was stopped ended with $(field "$job" ExitCode)"
done
[[ $state == COMPLETED && $link -ge 2 ]] || fail "$state after $link jobs"
compare links
"$program" inspect links.h5
say "done after $link jobs"
