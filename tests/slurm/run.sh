#!/usr/bin/env bash
# A real Slurm on this machine: sbatch -> USR1 before the limit -> exit code 75 -> requeue -> continued -> done, and the results are those
# of a search that nobody stopped; the same for chains of jobs with one line, with and without requeueing. Takes about ten minutes, and needs
# root, slurm-wlm and munge (jobs/install.sh --slurm). Not part of ctest; kills under Slurm: tests/faults/slurm.py.
#   bash tests/slurm/run.sh [FOLDER]
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(realpath -m "${1:-$(mktemp -d)}")
mkdir -p "$scratch" && cd "$scratch"
[[ -z $(ls -A) ]] || { echo "run.sh: $scratch is not empty; name another folder" >&2; exit 2; }
program=${PRISMOPT:-$root/build/release/prismopt}

say() { printf '%s  %s\n' "$(date +%T)" "$*"; }

# shellcheck source=tests/slurm/cluster.sh
source "$root/tests/slurm/cluster.sh"
start_slurm "$scratch/slurm"
say "$(sinfo -h)"

# A search is long enough if it is stopped at least once: how many fleets that takes depends on the machine and on what else it does.
fleets=${FLEETS:-32000}
lengthen() {
    fleets=$((2 * fleets))
    say "that ended before it was signalled; again with $fleets fleets"
}

# A median has no bound, so every plan is drawn.
study_of() {  # FLEETS
    sed -e 's/^minimise = .*/minimise = ["training_time_p50", "memory", "gpus"]/' \
        -e "s/^rungs = .*/rungs = [{ fleets = 64, steps = 2 }, { fleets = $1, steps = 2 }]/" \
        -e 's/^strategy = .*//' "$root/jobs/scenarios/small.toml" | sed 's/^\[search\]/[search]\nstrategy = "exact"/'
}

field() { scontrol show job "$1" 2>/dev/null | sed -n "s/.*$2=\([A-Za-z0-9_:]*\).*/\1/p"; }

# submit NAME OPTIONS_OF_SBATCH...: a limit of two minutes, the signal a minute or more before it; writes NAME-FLEETS.h5 and .log
submit() {
    local out=$1-$fleets
    shift
    study_of "$fleets" >"study-$fleets.toml"
    PRISMOPT=$program sbatch --parsable --nodes=1 --ntasks-per-node=2 --cpus-per-task=1 --time=2 --signal=USR1@60 --chdir="$scratch" \
        --output="$scratch/$out.log" "$@" "$root/jobs/slurm/search.sbatch" "study-$fleets.toml" "$out.h5"
}

# Waits for the end of a job, and says what it went through.
wait_for() {  # JOB NAME
    local last=
    for _ in $(seq "${LIMIT_S:-1500}"); do
        state=$(field "$1" JobState)
        restarts=$(field "$1" Restarts)
        if [[ "$state $restarts" != "$last" ]]; then
            say "job $1: state $state, restarts $restarts, journal $(stat -c %s "$2-$fleets.h5.journal" 2>/dev/null || echo none)"
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

compare() {  # NAME
    local straight=straight-$fleets.h5
    if [[ ! -e $straight ]]; then
        say "the same without Slurm"
        "$program" search "study-$fleets.toml" --out "$straight" >/dev/null 2>&1
    fi
    /usr/bin/python3 -B - "$root/tests/cli" "$1-$fleets.h5" "$straight" <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[1])
path, straight = sys.argv[2:]
sys.argv = ["", "", "", ""]
import support
one, other = support.contents_of(path), support.contents_of(straight)
differing = [name for name in one if one[name] != other.get(name)]
assert list(one) == list(other) and not differing, differing
print(f"every dataset of {path} is equal to those of a search that nobody stopped")
PYTHON
}

a_requeued_job() {
    say "a job that is requeued"
    job=$(submit requeued)
    wait_for "$job" requeued
    [[ $state == COMPLETED ]] || fail "$state after $restarts restarts"
}

# The same line several times, of which one job runs at a time; the later ones find a complete search.
a_chain_of_requeued_jobs() {
    say "a chain of jobs that are requeued"
    local first second
    first=$(submit chain --job-name=chain --dependency=singleton)
    second=$(submit chain --job-name=chain --dependency=singleton)
    wait_for "$first" chain
    [[ $state == COMPLETED ]] || fail "the first job of the chain: $state"
    restarts_of_first=$restarts
    wait_for "$second" chain
    [[ $state == COMPLETED && $restarts -eq 0 ]] || fail "the second job of the chain: $state"
    grep -q 'the search is complete' "chain-$fleets.log" || fail "the second job did not find a complete search"
}

a_chain_without_requeueing() {
    say "a chain of jobs that may not be requeued"
    for link in $(seq 20); do
        job=$(submit links --no-requeue --job-name=links --dependency=singleton)
        wait_for "$job" links
        [[ $state == COMPLETED ]] && return
        [[ $(field "$job" ExitCode) == 75:0 ]] || fail "a job that was stopped ended with $(field "$job" ExitCode)"
    done
    fail "$state after $link jobs"
}

a_requeued_job
until [[ $restarts -ge 1 ]]; do lengthen; a_requeued_job; done
compare requeued

a_chain_of_requeued_jobs
until [[ $restarts_of_first -ge 1 ]]; do lengthen; a_chain_of_requeued_jobs; done
compare chain

a_chain_without_requeueing
until [[ $link -ge 2 ]]; do lengthen; a_chain_without_requeueing; done
compare links
"$program" inspect "links-$fleets.h5"
say "done after $link jobs"
