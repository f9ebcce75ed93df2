#!/usr/bin/env bash
# A real Slurm on this machine: sbatch -> USR1 before the limit -> exit code 75 -> requeue -> resume -> done, and the results are those
# of a search that nobody stopped. Some minutes (Slurm holds a requeued job for two), root, Debian's slurm-wlm and munge. Not part of the
# default test run.
#   bash tests/slurm/run.sh [FOLDER]
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=${1:-$(mktemp -d)}
mkdir -p "$scratch" && cd "$scratch"
program=$root/build/release/prismopt
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
sed -e 's/^minimise = .*/minimise = ["training_time_p50", "memory", "gpus"]/' \
    -e "s/^rungs = .*/rungs = [{ fleets = 64, steps = 2 }, { fleets = ${FLEETS:-100032}, steps = 2 }]/" \
    -e 's/^strategy = .*//' "$root/jobs/scenarios/small.toml" >study.toml
grep -q '^strategy' study.toml || sed -i 's/^\[search\]/[search]\nstrategy = "exact"/' study.toml

say "a limit of one minute, the signal 40 s before it"
job=$(PRISMOPT=$program sbatch --parsable --nodes=1 --ntasks-per-node=2 --cpus-per-task=1 --time=1 --signal=USR1@40 \
    --chdir="$scratch" --output="$scratch/job.log" "$root/jobs/slurm/search.sbatch" study.toml study.h5)
say "job $job"
last=
for _ in $(seq "${LIMIT_S:-1500}"); do
    state=$(scontrol show job "$job" 2>/dev/null | sed -n 's/.*JobState=\([A-Z_]*\).*/\1/p')
    restarts=$(scontrol show job "$job" 2>/dev/null | sed -n 's/.*Restarts=\([0-9]*\).*/\1/p')
    if [[ "$state $restarts" != "$last" ]]; then
        say "state $state, restarts $restarts, journal $(stat -c %s study.h5.journal 2>/dev/null || echo none)"
        last="$state $restarts"
    fi
    [[ $state == COMPLETED || $state == FAILED || $state == TIMEOUT || -z $state ]] && break
    # Slurm holds a requeued job for two minutes; nobody waits here for another.
    if [[ $state == PENDING && ${restarts:-0} -gt 0 ]]; then
        scontrol update jobid="$job" starttime=now 2>/dev/null || true
    fi
    sleep 1
done
grep -E 'stopped by|resume|complete' job.log || true
[[ $state == COMPLETED && $restarts -ge 1 ]] || { say "FAILED: $state after $restarts restarts"; cat job.log; exit 1; }

say "the same without Slurm"
"$program" search study.toml --out straight.h5 >/dev/null 2>&1
/usr/bin/python3 -B - "$root/tests/cli" <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[1])
sys.argv = ["", "", "", ""]
import support
one, other = support.contents_of("study.h5"), support.contents_of("straight.h5")
differing = [name for name in one if one[name] != other.get(name)]
assert list(one) == list(other) and not differing, differing
print("every dataset is equal to those of a search that nobody stopped")
PYTHON
say "done after $restarts restarts"
