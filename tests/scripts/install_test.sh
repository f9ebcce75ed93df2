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
stand_in npm ''
# The script works in the tree that it lies in; this one has no modules yet.
tree=$scratch/tree
mkdir "$tree" "$tree/jobs"
cat "$install" >"$tree/jobs/install.sh"
install=$tree/jobs/install.sh
tries="--fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=1000"
charts="npm ci --prefix io/html --no-audit --no-fund --loglevel=error $tries"
driver="npm ci --prefix tests/browser --no-audit --no-fund --loglevel=error $tries"

nothing_missing() {
    run bash "$install"
    expect_status 0
    expect_said "packages are installed"
    expect_no_call apt-get
    expect_call "$charts"
}

without_a_network_the_charts_may_lie_elsewhere() {
    stand_in npm 'exit 1'
    run bash "$install"
    expect_status 1
    expect_said "-DECHARTS_FOLDER=FOLDER"
    stand_in npm ''
}

modules_that_are_there_stay() {
    mkdir "$tree/io" "$tree/io/html" "$tree/io/html/node_modules"
    : >"$tree/io/html/package-lock.json"
    : >"$tree/io/html/node_modules/.package-lock.json"
    run bash "$install"
    expect_status 0
    expect_said "the modules of io/html are installed"
    expect_no_call npm
}

the_browser_comes_with_its_driver() {
    run env absent=chromium bash "$install" --browser
    expect_status 0
    expect_said "installing chromium"
    expect_call "$driver"
}

slurm_comes_for_its_tests() {
    run env absent="munge" bash "$install" --slurm
    expect_status 0
    expect_said "installing munge"
    run env absent="munge" bash "$install"
    expect_no_call apt-get
}

npm_is_installed_where_there_is_none() {
    rm "$scratch/bin/npm"
    # shellcheck disable=SC2016
    stand_in apt-get '[[ " $* " != *" install "* ]] || printf "#!/usr/bin/env bash\n" >"$tree/../bin/npm"'
    run env absent="npm nodejs" tree="$tree" bash "$install"
    expect_said "installing nodejs npm"
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
    expect_call "$driver"
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
    expect_said "libhdf5-dev"
    expect_said "Fedora"
    expect_said "Spack"
}

nothing_missing
without_a_network_the_charts_may_lie_elsewhere
modules_that_are_there_stay
the_browser_comes_with_its_driver
slurm_comes_for_its_tests
installs_only_what_is_missing
tools_come_with_all
stale_lists_do_not_stop_it
a_user_without_sudo_is_told_the_command
a_user_with_sudo_installs_through_it
unknown_argument
npm_is_installed_where_there_is_none
another_system_is_told_the_names
finish
