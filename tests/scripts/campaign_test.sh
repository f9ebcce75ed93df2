#!/usr/bin/env bash
# jobs/slurm/campaign.sbatch, with stand-ins for Slurm and the campaign.
source "$(dirname -- "${BASH_SOURCE[0]}")/support.sh"

# shellcheck disable=SC2016  # expanded by the stand-ins
stand_in python3 'trap "exit 75" USR1
[[ -z ${search_lasts:-} ]] || { kill -USR1 "$PPID"; for _ in $(/usr/bin/seq 100); do /bin/sleep 0.1; done; }
exit "${campaign_status:-0}"'
stand_in sleep 'exit 0'
# shellcheck disable=SC2016
stand_in scontrol 'exit "${requeue_status:-0}"'
unset PRISMOPT JOBS
cd "$root"

job=(env SLURM_CPUS_PER_TASK=8 SLURM_JOB_ID=42 SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=8 SLURM_ARRAY_TASK_COUNT=8)
script=(bash jobs/slurm/campaign.sbatch "a scenario.toml" table.csv studies)

each_job_has_its_rows() {
    run "${job[@]}" "${script[@]}" -- --max-time "55 min"
    expect_status 0
    expect_call "python3 jobs/campaign a scenario.toml table.csv studies --task 3/8 -- --max-time 55 min"
    expect_no_call scontrol
}

a_stopped_campaign_is_requeued() {
    run "${job[@]}" campaign_status=75 "${script[@]}"
    expect_status 75
    expect_call "scontrol requeue 42"
}

a_campaign_that_cannot_be_requeued_keeps_its_exit_code() {
    run "${job[@]}" campaign_status=75 requeue_status=1 "${script[@]}"
    expect_status 75
    expect_said "job 42 cannot be requeued: submit the same line again to continue the campaign"
}

the_signal_before_the_limit_is_passed_on() {
    run "${job[@]}" search_lasts=1 "${script[@]}"
    expect_status 75
    expect_call "scontrol requeue 42"
}

a_failed_campaign_is_not() {
    run "${job[@]}" campaign_status=1 "${script[@]}"
    expect_status 1
    expect_no_call scontrol
}

some_jobs_of_an_array_need_the_number_of_all() {
    run "${job[@]}" SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_MAX=3 SLURM_ARRAY_TASK_COUNT=1 "${script[@]}"
    expect_status 2
    expect_said "JOBS=8 sbatch --array=3"
    run "${job[@]}" JOBS=8 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_MAX=3 SLURM_ARRAY_TASK_COUNT=1 "${script[@]}"
    expect_call "python3 jobs/campaign a scenario.toml table.csv studies --task 3/8"
}

it_needs_an_array() {
    run env SLURM_JOB_ID=42 "${script[@]}"
    expect_status 2
    expect_said "usage: sbatch --array=1-JOBS"
}

each_job_has_its_rows
a_stopped_campaign_is_requeued
a_campaign_that_cannot_be_requeued_keeps_its_exit_code
the_signal_before_the_limit_is_passed_on
a_failed_campaign_is_not
some_jobs_of_an_array_need_the_number_of_all
it_needs_an_array
finish
