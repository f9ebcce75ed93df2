# shellcheck shell=bash
# A Slurm of its own for tests, of three nodes on this machine; sourced. Needs root, slurm-wlm and munge.

# start_slurm FOLDER: sets SLURM_CONF; daemons stop when the shell ends. Ends the shell with exit code 77 where Slurm is missing. A
# second one waits for the first: ports are fixed, and ranks of jobs with one number would share Open MPI's segments in /dev/shm.
start_slurm() {
    local tool
    for tool in slurmctld slurmd munged sbatch; do
        command -v "$tool" >/dev/null || { echo "skipped: $tool is missing; bash jobs/install.sh --slurm installs it" >&2; exit 77; }
    done
    [[ $(id -u) -eq 0 ]] || { echo "skipped: Slurm's daemons need root here" >&2; exit 77; }
    slurm_folder=$1
    slurm_nodes=(n1 n2 n3)
    mkdir -p "$slurm_folder/state"
    exec {slurm_lock}>/tmp/prismopt-test-slurm.lock
    flock "$slurm_lock"
    start_munge
    write_slurm_conf >"$slurm_folder/slurm.conf"
    export SLURM_CONF=$slurm_folder/slurm.conf
    trap stop_slurm EXIT
    slurmctld {slurm_lock}>&-
    local node
    for node in "${slurm_nodes[@]}"; do
        mkdir -p "$slurm_folder/spool-$node" "$slurm_folder/tmp-$node"
        slurmd -N "$node" {slurm_lock}>&-
    done
    wait_until nodes_are_idle || { echo "Slurm's nodes do not start; see the logs in $slurm_folder" >&2; exit 1; }
}

start_munge() {
    if ! munge -n 2>/dev/null | unmunge >/dev/null 2>&1; then
        mkdir -p /run/munge && chown munge:munge /run/munge
        setpriv --reuid=munge --regid=munge --init-groups munged {slurm_lock}>&-
        slurm_started_munge=yes
    fi
}

# The nodes have two processors each, however many this machine has. PMIx has a folder of each step in TmpFS, so nodes have their own.
write_slurm_conf() {
    local host node port=16820
    host=$(hostname -s)
    cat <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
SlurmctldPort=16817
StateSaveLocation=$slurm_folder/state
SlurmdSpoolDir=$slurm_folder/spool-%n
TmpFS=$slurm_folder/tmp-%n
SlurmctldPidFile=$slurm_folder/slurmctld.pid
SlurmdPidFile=$slurm_folder/slurmd-%n.pid
SlurmctldLogFile=$slurm_folder/slurmctld.log
SlurmdLogFile=$slurm_folder/slurmd-%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0
AccountingStorageType=accounting_storage/none
MpiDefault=pmix
ReturnToService=2
JobRequeue=1
KillWait=5
CONF
    for node in "${slurm_nodes[@]}"; do
        echo "NodeName=$node NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port++)) CPUs=2 RealMemory=4000"
    done
    echo "PartitionName=all Nodes=$(IFS=,; echo "${slurm_nodes[*]}") Default=YES MaxTime=INFINITE State=UP"
}

stop_slurm() {
    local file
    scancel --user=root 2>/dev/null || true
    wait_until no_jobs || true   # one that does not end is killed after KillWait seconds
    for file in "$slurm_folder"/*.pid; do
        kill "$(<"$file")" 2>/dev/null || true
    done
    wait_until no_daemons || true
    [[ -z ${slurm_started_munge:-} ]] || kill "$(</run/munge/munged.pid)" 2>/dev/null || true
}

no_jobs() { [[ -z $(squeue -h 2>/dev/null) ]]; }
no_daemons() { ! compgen -G "$slurm_folder/*.pid" >/dev/null; }   # each removes its file at its end
nodes_are_idle() { [[ $(sinfo -h -N -t idle 2>/dev/null | wc -l) -eq ${#slurm_nodes[@]} ]]; }

# wait_until CONDITION: for at most a minute
wait_until() {
    for _ in $(seq 240); do
        if "$1"; then
            return 0
        fi
        sleep 0.25
    done
    return 1
}
