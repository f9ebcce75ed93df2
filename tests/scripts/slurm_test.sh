#!/usr/bin/env bash
# The scripts of jobs/slurm, with stand-ins for Slurm.
source "$(dirname -- "${BASH_SOURCE[0]}")/support.sh"

stand_in sleep 'exit 0'
# shellcheck disable=SC2016  # expanded by the stand-ins
stand_in srun 'echo "threads $OMP_NUM_THREADS, cpus $SRUN_CPUS_PER_TASK, wait $SLURM_WAIT" >>"$calls"; echo "launcher waits ${OMPI_MCA_odls_base_sigkill_timeout:-as it is}" >>"$calls"; [[ ${search_status:-0} -ne 0 || ${launched:-yes} == no ]] || { while [[ $1 != --out ]]; do shift; done; : >"$2"; }; exit "${search_status:-0}"'
# shellcheck disable=SC2016
stand_in scontrol 'exit "${requeue_status:-0}"'
unset SLURM_RESTART_COUNT SLURM_WAIT PRISMOPT

results=$scratch/a.h5
job=(env SLURM_CPUS_PER_TASK=8 SLURM_JOB_ID=42)
script=(bash "$root/jobs/slurm/search.sbatch" "a scenario.toml" "$results")
search="srun --mpi=pmix build/release/prismopt search a scenario.toml --out $results --continue"

passes_its_arguments_on() {
    run "${job[@]}" "${script[@]}" --seed 7
    expect_status 0
    expect_call "$search --seed 7"
    expect_call "threads 8, cpus 8, wait 30"
    expect_no_call scontrol
}

signals_are_not_delayed() {
    run "${job[@]}" "${script[@]}"
    expect_call "launcher waits as it is"
}

the_program_may_lie_elsewhere() {
    run "${job[@]}" PRISMOPT=/opt/prismopt "${script[@]}"
    expect_call "srun --mpi=pmix /opt/prismopt search a scenario.toml --out $results --continue"
}

a_stopped_search_is_requeued() {
    run "${job[@]}" search_status=75 "${script[@]}"
    expect_status 75
    expect_call "scontrol requeue 42"
}

a_failed_search_is_not() {
    run "${job[@]}" search_status=2 "${script[@]}"
    expect_status 2
    expect_no_call scontrol
}

a_search_that_cannot_be_requeued_keeps_its_exit_code() {
    run "${job[@]}" search_status=75 requeue_status=1 "${script[@]}"
    expect_status 75
    expect_said "job 42 cannot be requeued: submit the same line again to continue the search"
}

ranks_that_were_not_launched_are_no_success() {
    rm -f "$results"
    run "${job[@]}" launched=no "${script[@]}"
    expect_status 1
    : >"$results.journal"
    run "${job[@]}" "${script[@]}"
    rm "$results.journal"
    expect_status 1
    expect_said "the search is not complete: submit the same line again to continue it"
    expect_no_call scontrol
}

too_few_arguments() {
    run "${job[@]}" bash "$root/jobs/slurm/search.sbatch" "a scenario.toml"
    expect_status 2
    expect_said "usage:"
    expect_no_call srun
}

array=("${job[@]}" SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_ID=3)
parts=(bash "$root/jobs/slurm/array.sbatch" "a scenario.toml" "$scratch/a")

a_task_of_an_array_searches_its_part() {
    run "${array[@]}" SLURM_ARRAY_TASK_MAX=8 SLURM_ARRAY_TASK_COUNT=8 "${parts[@]}" --seed 7
    expect_status 0
    expect_call "srun --mpi=pmix build/release/prismopt search a scenario.toml --out $scratch/a-3.h5 --continue --part 3/8 --seed 7"
}

a_stopped_task_is_requeued() {
    run "${array[@]}" SLURM_ARRAY_TASK_MAX=8 SLURM_ARRAY_TASK_COUNT=8 search_status=75 "${parts[@]}"
    expect_status 75
    expect_call "scontrol requeue 42"
}

some_parts_only_need_the_number_of_all() {
    run "${job[@]}" SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_MAX=3 SLURM_ARRAY_TASK_COUNT=1 "${parts[@]}"
    expect_status 2
    expect_said "PARTS=8"
    run "${job[@]}" PARTS=5 SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_MAX=3 SLURM_ARRAY_TASK_COUNT=1 "${parts[@]}"
    expect_call "srun --mpi=pmix build/release/prismopt search a scenario.toml --out $scratch/a-3.h5 --continue --part 3/5"
}

an_array_script_without_an_array() {
    run "${job[@]}" "${parts[@]}"
    expect_status 2
    expect_said "usage:"
}

# As Slurm does: a copy of the script in a folder of Slurm, run in the folder of the user, where nothing is.
installed_scripts_run_from_an_empty_folder() {
    local prefix=$scratch/prefix
    mkdir -p "$prefix/bin" "$prefix/share/prismopt" "$scratch/spool" "$scratch/empty"
    cp -r "$root/jobs/slurm" "$prefix/share/prismopt/"
    printf '#!/bin/sh\n' >"$prefix/bin/prismopt"
    chmod +x "$prefix/bin/prismopt"
    cp "$prefix/share/prismopt/slurm/array.sbatch" "$scratch/spool/slurm_script"
    cd "$scratch/empty"
    run "${array[@]}" PATH="$prefix/bin:$scratch/bin:$PATH" SLURM_ARRAY_TASK_MAX=8 SLURM_ARRAY_TASK_COUNT=8 bash "$scratch/spool/slurm_script" small.toml a
    expect_status 0
    expect_call "srun --mpi=pmix $prefix/bin/prismopt search small.toml --out a-3.h5 --continue --part 3/8"
    run "${array[@]}" SLURM_ARRAY_TASK_MAX=8 SLURM_ARRAY_TASK_COUNT=8 bash "$scratch/spool/slurm_script" small.toml a
    expect_status 2
    expect_said "PRISMOPT=/path/to/bin/prismopt"
    cd "$root"
}

cd "$root"
installed_scripts_run_from_an_empty_folder
a_task_of_an_array_searches_its_part
a_stopped_task_is_requeued
some_parts_only_need_the_number_of_all
an_array_script_without_an_array
passes_its_arguments_on
signals_are_not_delayed
the_program_may_lie_elsewhere
a_stopped_search_is_requeued
a_failed_search_is_not
a_search_that_cannot_be_requeued_keeps_its_exit_code
ranks_that_were_not_launched_are_no_success
too_few_arguments
finish
