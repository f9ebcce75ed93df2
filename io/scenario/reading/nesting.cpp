#include "io/scenario/reading/nesting.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

namespace {

/// What a value of a choice sets of the sizes of groups: (tier, GPUs).
using GroupSizes = std::vector<std::pair<std::size_t, int>>;

void add_group(const HardwareParameter& parameter, double value, GroupSizes& sizes)
{
    if (parameter.target == HardwareTarget::group) {
        sizes.emplace_back(parameter.tier, static_cast<int>(std::lround(value)));
    }
}

/// [value] of the choice.
std::vector<GroupSizes> group_sizes(const StudyChoice& choice)
{
    std::vector<GroupSizes> all(choice.values.size());
    for (std::size_t v = 0; v < choice.values.size(); ++v) {
        if (const auto* level = std::get_if<HardwareLevel>(&choice.values[v])) {
            add_group(*choice.hardware, level->si, all[v]);
        } else if (const auto* chosen = std::get_if<ChosenOption>(&choice.values[v])) {
            const HardwareOption& option = choice.options[chosen->number];
            for (std::size_t p = 0; p < option.parameters.size(); ++p) {
                add_group(option.parameters[p], option.values[p], all[v]);
            }
        }
    }
    return all;
}

bool sets_groups(const std::vector<GroupSizes>& of_values)
{
    return std::any_of(of_values.begin(), of_values.end(),
                       [](const GroupSizes& sizes) { return !sizes.empty(); });
}

Cluster with_groups(Cluster cluster, const std::vector<const GroupSizes*>& chosen)
{
    for (const GroupSizes* sizes : chosen) {
        for (const auto& [tier, gpus] : *sizes) {
            cluster.tiers[tier].group_gpus = gpus;
        }
    }
    return cluster;
}

/// A value of one of several choices.
struct FixedValue {
    std::size_t choice = 0;
    std::size_t value = 0;
};

/// Whether the predicate holds for a combination of values, [choice][value], with this one.
template <class Predicate>
bool any_combination(const std::vector<std::vector<GroupSizes>>& sizes, const FixedValue& fixed,
                     Predicate&& holds)
{
    std::size_t combinations = 1;
    for (std::size_t k = 0; k < sizes.size(); ++k) {
        combinations *= k == fixed.choice ? 1 : sizes[k].size();
    }
    for (std::size_t combination = 0; combination < combinations; ++combination) {
        std::vector<const GroupSizes*> chosen;
        std::size_t rest = combination;
        for (std::size_t k = 0; k < sizes.size(); ++k) {
            const std::size_t value = k == fixed.choice ? fixed.value : rest % sizes[k].size();
            rest /= k == fixed.choice ? 1 : sizes[k].size();
            chosen.push_back(&sizes[k][value]);
        }
        if (holds(chosen)) {
            return true;
        }
    }
    return false;
}

/// Divisors of `whole` on both sides of `near`, which itself is none; without 1 and the whole.
std::vector<int> divisors_near(int whole, int near)
{
    std::vector<int> found;
    for (int below = std::min(near, whole) - 1; below > 1; --below) {
        if (whole % below == 0) {
            found.push_back(below);
            break;
        }
    }
    for (int above = near + 1; above < whole; ++above) {
        if (whole % above == 0) {
            found.push_back(above);
            break;
        }
    }
    return found;
}

/// Multiples of `unit` on both sides of `near`, larger than the unit.
std::vector<int> multiples_on_both_sides(int unit, int near)
{
    const int above = std::max(2, near / unit + 1) * unit;
    return above - unit > unit ? std::vector{above - unit, above} : std::vector{above};
}

Complaint complaint_of(const std::vector<NetworkTier>& tiers, const UnnestedTiers& pair)
{
    const NetworkTier& inner = tiers[pair.inner];
    const NetworkTier& outer = tiers[pair.outer];
    const std::string sizes = fmt::format("\"{}\" of {} GPUs and \"{}\" of {}", inner.name, inner.group_gpus,
                                          outer.name, outer.group_gpus);
    if (pair.outer + 1 == tiers.size()) {
        return {"never nests", fmt::format("{}: a group is larger than the cluster", sizes),
                fmt::format("choose {} GPUs or fewer for \"{}\", or more gpus in [cluster]", outer.group_gpus,
                            inner.name)};
    }
    const std::vector<int> smaller = divisors_near(outer.group_gpus, inner.group_gpus);
    const std::string instead =
        smaller.empty() ? ""
                        : fmt::format("choose {} for \"{}\", or ", fmt::join(smaller, " or "), inner.name);
    return {"never nests",
            fmt::format("{}: the outer size must be a larger multiple of the inner one", sizes),
            fmt::format("{}{} for \"{}\"", instead,
                        fmt::join(multiples_on_both_sides(inner.group_gpus, outer.group_gpus), " or "),
                        outer.name)};
}

/// The place of a choice in the file: the values of its [[knob]], or its option.
Value place_of(const Scenario& scenario, std::size_t choice, std::size_t value, Table& top)
{
    const bool is_hardware = scenario.choices[choice].hardware.has_value();
    std::size_t before = 0;  // of the same section
    for (std::size_t k = 0; k < choice; ++k) {
        const StudyChoice& other = scenario.choices[k];
        before += is_hardware ? other.hardware.has_value() : !other.options.empty();
    }
    Table table = top.find(is_hardware ? "knob" : "bundle")->list("")[before].table("");
    if (is_hardware) {
        return *table.find("values");
    }
    return *table.find("option")->list("")[value].table("").find("name");
}

std::string text_of_value(const Scenario& scenario, std::size_t choice, std::size_t value)
{
    const StudyChoice& of = scenario.choices[choice];
    if (const auto* level = std::get_if<HardwareLevel>(&of.values[value])) {
        return fmt::format("{} = {:.6g}", of.name, level->si);
    }
    return of.labels[value];
}

}  // namespace

void refuse_unnested_values(const Scenario& scenario, Table& top)
{
    std::vector<std::size_t> choices;
    std::vector<std::vector<GroupSizes>> sizes;
    for (std::size_t k = 0; k < scenario.choices.size(); ++k) {
        std::vector<GroupSizes> own = group_sizes(scenario.choices[k]);
        if (sets_groups(own)) {
            choices.push_back(k);
            sizes.push_back(std::move(own));
        }
    }
    for (std::size_t c = 0; c < choices.size(); ++c) {
        for (std::size_t value = 0; value < sizes[c].size(); ++value) {
            std::optional<Complaint> first;
            const bool possible =
                any_combination(sizes, {c, value}, [&](const std::vector<const GroupSizes*>& chosen) {
                    const Cluster cluster = with_groups(scenario.cluster, chosen);
                    const auto pair = unnested_tiers(cluster);
                    if (pair && !first) {
                        first = complaint_of(cluster.tiers, *pair);
                    }
                    return !pair;
                });
            if (!possible) {
                first->problem = fmt::format("has {}, which {}", text_of_value(scenario, choices[c], value),
                                             first->problem);
                place_of(scenario, choices[c], value, top).fail(*first);
            }
        }
    }
}

}  // namespace prismopt
