#include "io/scenario/sections/software.hpp"

#include "io/base/input_error.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "io/scenario/sections/sections.hpp"
#include "io/toml/catalog_entry.hpp"
#include "io/toml/catalog_file.hpp"
#include "io/toml/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace prismopt {

namespace {

constexpr Range year_range{"year of the release, or of its measured runs", 2015, 2100, "2026"};
constexpr Range weight_range{"what its probability is proportional to", 0, 1000, "3", Range::Ends::open_low};
constexpr const char* plausible_file = "plausible_software.toml";

const Fields<SoftwareRelease>& release_fields()
{
    static const auto fields =
        Fields<SoftwareRelease>("a release", "a release, or a way to run the program")
            .text("name", &SoftwareRelease::name, "26.04", "its name")
            .required()
            .custom({"constants",
                     "the stack that has its constants",
                     in_quotes("megatron-bridge"),
                     {entry_shape(stacks_kind)}},
                    [](const Value& value, SoftwareRelease& release, Keys) {
                        release.constants = value.text("megatron-bridge");
                    })
            .required()
            .text("about", &SoftwareRelease::about, "releases 26.02 to 26.04", "what it stands for")
            .integer("year", &SoftwareRelease::year, year_range)
            .required()
            .text("trainer", &SoftwareRelease::trainer, "megatron",
                  "the training program of exports whose rules say which plans it runs; default: any")
            .integer("rows", &SoftwareRelease::rows,
                     {"measured runs that its constants were fitted to apart from the fit of all others", 1,
                      1e6, "18"})
            .flag("measured", &SoftwareRelease::measured,
                  "whether measured runs had it; false: its constants are those of software that is near it");
    return fields;
}

/// Constants of a stack; those of no software in particular have no entry.
SoftwareStack constants_named(const std::string& name, const Catalog& catalog)
{
    return name == SoftwareStack{}.name ? SoftwareStack{} : catalog_stack(name, catalog);
}

std::string_view network_kind(const Workload& workload)
{
    switch (kind_of(workload, Cluster{})) {
        case RunKind::moe: return "mixture";
        case RunKind::encoder: return "encoder";
        case RunKind::recommendation: return "recommendation";
        default: return workload.is_moe() ? "mixture" : "dense";
    }
}

/// "a10" begins "a10" and "a10-pcie", not "a100-sxm-80gb".
bool begins_with_one_of(const std::string& name, const std::vector<std::string>& beginnings)
{
    return beginnings.empty() ||
           std::any_of(beginnings.begin(), beginnings.end(),
                       [&](const std::string& begin) { return (name + "-").starts_with(begin + "-"); });
}

/// A row of plausible_software.toml.
struct Plausible {
    std::vector<std::string> accelerators;  // by how their names begin, up to a hyphen; empty: all
    std::vector<std::string> networks;      // by kind; empty: all
    struct Row {
        SoftwareChoice choice;
        double weight = 0.0;
        std::string reason;
    };
    std::vector<Row> software;
};

std::vector<std::string> texts_of(Table& table, const char* key)
{
    std::vector<std::string> texts;
    if (const auto list = table.find(key)) {
        for (const Value& value : list->list("[\"h100\"]")) {
            texts.push_back(value.text("h100"));
        }
    }
    return texts;
}

std::vector<Plausible> read_plausible()
{
    const TomlFile& file = catalog_file(plausible_file);
    std::vector<Plausible> rows;
    for (const Value& value : Table(file.root, file).at("plausible", "[[plausible]]").list("[[plausible]]")) {
        Table table = value.table("[[plausible]]");
        Plausible row{texts_of(table, "accelerators"), texts_of(table, "networks"), {}};
        for (const Value& software : table.at("software", "software = [...]").list("[...]")) {
            Table of = software.table(R"({ name = "megatron-bridge", weight = 3, reason = "..." })");
            Plausible::Row one{{of.at("name", "name").text("megatron-bridge"), ""}, 0.0, ""};
            if (const auto release = of.find("release")) {
                one.choice.release = release->text("26.04");
            }
            one.weight = of.at("weight", "weight = 3").number(weight_range);
            one.reason = of.at("reason", "reason = \"...\"").text("...");
            of.refuse_unknown_keys();
            row.software.push_back(std::move(one));
        }
        table.refuse_unknown_keys();
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace

const SoftwareRelease& release_of(const SoftwareEntry& entry, const std::string& release)
{
    const auto found =
        std::find_if(entry.releases.begin(), entry.releases.end(),
                     [&](const SoftwareRelease& row) { return release.empty() || row.name == release; });
    if (found == entry.releases.end()) {
        std::vector<std::string> names;
        for (const SoftwareRelease& row : entry.releases) {
            names.push_back(row.name);
        }
        if (names == std::vector<std::string>{""}) {
            throw InputError(fmt::format("{} has no releases in the catalog; leave release out", entry.name));
        }
        throw InputError(fmt::format(
            "{} has no release \"{}\" in the catalog (releases: {}); choose the one that is nearest to "
            "yours, or leave it out for the newest",
            entry.name, release, listed(names)));
    }
    return *found;
}

const Fields<SoftwareEntry>& software_fields()
{
    const ValueShape releases{.kind = ValueShape::Kind::section,
                              .section = []() -> const SectionTable& { return release_fields(); },
                              .list = true};
    static const auto fields =
        Fields<SoftwareEntry>("a training program", "its releases, each with the constants of a stack")
            .text("about", &SoftwareEntry::about, "our trainer", "what it is")
            .required()
            .text("omits", &SoftwareEntry::omits, "generation of rollouts",
                  "what its jobs spend time on beside training, which is not modelled; reports then say so")
            .flag("gathers_once", &SoftwareEntry::gathers_once,
                  "whether it keeps all parameters on each GPU with sharding = zero2, and gathers them once "
                  "per step, rather than in each forward pass")
            .custom({"plan",
                     "defaults of the program for axes that [space] does not have",
                     "{ tp_overlap = [\"on\"] }",
                     {{.kind = ValueShape::Kind::section, .section = space_table}}},
                    [](const Value& value, SoftwareEntry&, Keys) {
                        read_axes(value.table("{ tp_overlap = [\"on\"] }"));
                    })  // plan_defaults()
            .custom({"levers",
                     "values of axes that `prismopt init` lists for the program, as in [space]; tp, cp, pp "
                     "or ep = [1]: it has no such parallelism",
                     R"({ sharding = ["zero2", "zero3"], pp = [1] })",
                     {{.kind = ValueShape::Kind::section, .section = space_table}}},
                    [](const Value& value, SoftwareEntry&, Keys) {
                        read_axes(value.table("{ pp = [1] }"));
                    })  // lever_values()
            .custom({"releases",
                     "releases, the newest first",
                     R"([{ name = "1.0", constants = "megatron-core", year = 2026 }])",
                     {releases}},
                    [](const Value& value, SoftwareEntry& entry, Keys keys) {
                        for (const Value& one : value.list("[{ name = \"1.0\", ... }]")) {
                            Table table = one.table("{ name = \"1.0\", ... }");
                            release_fields().read_whole(table, keys, entry.releases.emplace_back());
                        }
                    })
            .required();
    return fields;
}

SoftwareEntry catalog_software(const std::string& name, const Catalog& catalog)
{
    return named_entry(software_kind, name, software_fields(), catalog);
}

std::string omitted_text(const std::vector<const Cluster*>& clusters, const Catalog& catalog)
{
    const std::vector<std::string> known = catalog.names(software_kind);
    for (const Cluster* cluster : clusters) {
        const std::string& name = cluster->software.name;
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            continue;
        }
        if (const std::string omits = catalog_software(name, catalog).omits; !omits.empty()) {
            return fmt::format(
                "jobs of {} also spend time on {}, which is not modelled: times, costs and "
                "energy are those of training alone",
                name, omits);
        }
    }
    return "";
}

const Fields<SoftwareChoice>& software_choice_fields()
{
    static const auto fields =
        Fields<SoftwareChoice>("[software]", "what trains: the program and its release")
            .custom({"name", "the program", in_quotes("megatron-bridge"), {entry_shape(software_kind)}},
                    [](const Value& value, SoftwareChoice& choice, Keys) {
                        choice.name = value.choice(value.catalog().names(software_kind),
                                                   "training programs in the catalog",
                                                   "describe your own in a catalog file (docs/software.md)");
                    })
            .required()
            .text("release", &SoftwareChoice::release, "26.04",
                  "its release, as docs/software.md lists them; default: the newest in the catalog")
            .flag("assumed", &SoftwareChoice::assumed,
                  "whether nobody chose it, as `prismopt init` writes: intervals and probabilities then "
                  "include other plausible "
                  "software");
    return fields;
}

SoftwareChoice read_software_choice(Table table)
{
    SoftwareChoice choice;
    software_choice_fields().read_whole(table, Keys::all, choice);
    try {
        software_of(choice, table.catalog());
    } catch (const InputError& error) {
        table.fail({error.what(), "", ""});
    }
    return choice;
}

PossibleSoftware software_of(const SoftwareChoice& choice, const Catalog& catalog)
{
    const SoftwareEntry entry = catalog_software(choice.name, catalog);
    const SoftwareRelease& release = release_of(entry, choice.release);
    PossibleSoftware result;
    result.software = {entry.name, entry.releases.size() > 1 ? release.name : "", release.trainer};
    result.stack = constants_named(release.constants, catalog);
    result.stack.borrowed = !release.measured;
    result.stack.gathers_once = entry.gathers_once;
    result.library = library_of(result.stack, catalog);
    return result;
}

namespace {

/// A table of values of axes that the entry of a program has.
std::optional<Table> axes_of(const std::string& program, std::string_view key, const Catalog& catalog)
{
    if (!catalog.has(software_kind, program)) {
        return std::nullopt;
    }
    const auto axes = catalog.entry(software_kind, program).find(key);
    return axes ? std::optional(axes->table("{ tp_overlap = [\"on\"] }")) : std::nullopt;
}

}  // namespace

std::optional<Table> plan_defaults(const Software& software, const Catalog& catalog)
{
    return axes_of(software.name, "plan", catalog);
}

std::optional<Table> lever_values(const std::string& program, const Catalog& catalog)
{
    return axes_of(program, "levers", catalog);
}

std::optional<SoftwareChoice> software_with(const std::string& constants, const Catalog& catalog)
{
    for (const std::string& name : catalog.names(software_kind)) {
        for (const SoftwareRelease& release : catalog_software(name, catalog).releases) {
            if (release.constants == constants && release.measured) {
                return SoftwareChoice{name, release.name};
            }
        }
    }
    return std::nullopt;
}

std::vector<PossibleSoftware> plausible_software(const std::string& accelerator, const Workload& workload,
                                                 const Catalog& catalog)
{
    static const std::vector<Plausible> rows = read_plausible();
    const std::string_view kind = network_kind(workload);
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const Plausible& of) {
        return begins_with_one_of(accelerator, of.accelerators) &&
               (of.networks.empty() ||
                std::find(of.networks.begin(), of.networks.end(), kind) != of.networks.end());
    });
    std::vector<PossibleSoftware> result;
    double total = 0.0;
    for (const Plausible::Row& one : row == rows.end() ? std::vector<Plausible::Row>{} : row->software) {
        result.push_back(software_of(one.choice, catalog));
        result.back().weight = one.weight;
        result.back().reason = one.reason;
        total += one.weight;
    }
    for (PossibleSoftware& one : result) {
        one.weight /= total;
    }
    return result;
}

SoftwareChoice software_of_trainer(const std::string& trainer, const Catalog& catalog)
{
    for (const std::string& name : catalog.names(software_kind)) {
        if (const SoftwareEntry entry = catalog_software(name, catalog);
            entry.releases.front().trainer == trainer) {
            return {name, entry.releases.front().name};
        }
    }
    throw InputError(
        fmt::format("no software in the catalog is exported to {}; rebuild the program", trainer));
}

int rows_behind(const SoftwareRelease& release)
{
    return release.rows > 0 || !release.measured ? release.rows : rows_behind(release.constants);
}

int rows_behind(const std::string& constants) { return rows_of(fitted_model(), "host", constants); }

}  // namespace prismopt
