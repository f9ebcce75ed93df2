#!/usr/bin/env bash
# jobs/install.sh, with stand-ins for the package manager.
source "$(dirname -- "${BASH_SOURCE[0]}")/support.sh"
install=$root/jobs/install.sh

# A package manager that has everything except the names in $absent.
# shellcheck disable=SC2016  # expanded by the stand-ins
stand_in dpkg-query 'status=0
for name in "${@:4}"; do
    if [[ " ${absent:-} " == *" $name "* ]]; then status=1; else echo "installed $name"; fi
done
exit $status'
# shellcheck disable=SC2016
stand_in apt-get '[[ " $* " != *" update "* ]] || exit "${update_status:-0}"'
# shellcheck disable=SC2016
stand_in id 'echo "${user:-0}"'

nothing_missing() {
    run bash "$install"
    expect_status 0
    expect_said "packages are installed"
    expect_no_call apt-get
}

installs_only_what_is_missing() {
    run env absent="ninja-build shellcheck" bash "$install"
    expect_status 0
    expect_call "apt-get -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 update -qq"
    expect_call "apt-get -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 install -y -qq --no-install-recommends ninja-build"
}

tools_come_with_all() {
    run env absent="ninja-build shellcheck" bash "$install" --all
    expect_status 0
    expect_said "installing ninja-build shellcheck"
}

stale_lists_do_not_stop_it() {
    run env absent=cmake update_status=100 bash "$install"
    expect_status 0
    expect_said "could not all be refreshed"
    expect_call "apt-get -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 install -y -qq --no-install-recommends cmake"
}

a_user_without_sudo_is_told_the_command() {
    run env absent=cmake user=1000 bash "$install"
    expect_status 1
    expect_said "apt-get install --no-install-recommends cmake"
    expect_no_call apt-get
}

a_user_with_sudo_installs_through_it() {
    # shellcheck disable=SC2016
    stand_in sudo '"$@"'
    run env absent=cmake user=1000 bash "$install"
    expect_status 0
    expect_call "sudo env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 update -qq"
}

unknown_argument() {
    run bash "$install" --everything
    expect_status 2
    expect_said "unknown argument '--everything'"
    expect_said "usage:"
    expect_no_call apt-get
}

another_system_is_told_the_names() {
    rm "$scratch/bin/apt-get"
    run bash "$install"
    expect_status 1
    expect_said "libhdf5-openmpi-dev"
    expect_said "Fedora"
    expect_said "Spack"
}

nothing_missing
installs_only_what_is_missing
tools_come_with_all
stale_lists_do_not_stop_it
a_user_without_sudo_is_told_the_command
a_user_with_sudo_installs_through_it
unknown_argument
another_system_is_told_the_names
finish
