#pragma once

/// Training software of the catalog: programs with their releases, each of which has the constants of a
/// stack; and what a job probably runs on whose software is not given.

#include "io/scenario/constants/fitted_model.hpp"
#include "io/scenario/scenario.hpp"
#include "io/toml/catalog.hpp"
#include "io/toml/fields.hpp"
#include "model/hardware/hardware.hpp"
#include "model/network/workload.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

inline constexpr std::string_view software_kind = "software";

/// A release, or a way to run a program that has other constants.
struct SoftwareRelease {
    std::string name;
    std::string constants;  // entry of the stacks
    std::string about;
    int year = 0;  // in which it came out, or in which its measured runs were made
    // false: the constants are of other software that is near it, or the fit lacks their covariance
    bool measured = true;
    int rows = 0;  // measured runs that its constants were fitted to apart from the fit of all others
    std::string trainer{};  // of io/trainers/, whose rules say which plans it runs; empty: any
};

/// A program.
struct SoftwareEntry {
    std::string name;
    std::string about;
    // What its jobs spend time on beside training, which is not modelled; empty: nothing.
    std::string omits{};
    bool gathers_once = false;                // SoftwareStack::gathers_once
    std::vector<SoftwareRelease> releases{};  // the newest first
};
const Fields<SoftwareEntry>& software_fields();
SoftwareEntry catalog_software(const std::string& name, const Catalog& catalog = Catalog::built_in());

/// What jobs of the clusters' software spend time on beside training, which is not modelled,
/// as a sentence; empty: nothing.
std::string omitted_text(const std::vector<const Cluster*>& clusters, const Catalog& catalog);

const Fields<SoftwareChoice>& software_choice_fields();
/// Reads a section; throws InputError with the releases that there are.
SoftwareChoice read_software_choice(Table table);

/// The software of a choice, with its constants and library.
PossibleSoftware software_of(const SoftwareChoice& choice, const Catalog& catalog = Catalog::built_in());
/// Values of axes for spaces that do not have them, as in [space]. Nothing: the software has none of its own.
std::optional<Table> plan_defaults(const Software& software, const Catalog& catalog = Catalog::built_in());
/// Values of axes that starters list for a program, as in [space]. Nothing: the program has no list.
std::optional<Table> lever_values(const std::string& program, const Catalog& catalog = Catalog::built_in());
/// The software whose release has these constants, for the older key `stack`. Nothing: none has them.
std::optional<SoftwareChoice> software_with(const std::string& constants,
                                            const Catalog& catalog = Catalog::built_in());

/// What probably trains such a network on such an accelerator: at most six, the most
/// probable first; weights sum to one.
std::vector<PossibleSoftware> plausible_software(const std::string& accelerator, const Workload& workload,
                                                 const Catalog& catalog = Catalog::built_in());

/// The software of exports to a trainer: its first entry, in the newest release. Throws
/// InputError for a trainer without one.
SoftwareChoice software_of_trainer(const std::string& trainer, const Catalog& catalog = Catalog::built_in());

/// Number of measured runs in the fit that the constants of a stack were fitted to.
int rows_behind(const std::string& constants);
/// The same for a release: of its own few runs, where the fit lacks them.
int rows_behind(const SoftwareRelease& release);
/// The release that a choice names, or the newest. Throws InputError with the releases that there are.
const SoftwareRelease& release_of(const SoftwareEntry& entry, const std::string& release);

}  // namespace prismopt
