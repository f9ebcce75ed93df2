#include "optimizer/loop/study_key.hpp"

#include "io/base/control_characters.hpp"
#include "search/strategies/strategy_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>

namespace prismopt {

namespace {

struct DifferingLines {
    int number = 0;
    std::string one;
    std::string other;
};

/// The first lines that differ, of two texts that do.
DifferingLines first_differing(const std::string& one, const std::string& other)
{
    std::istringstream here(one);
    std::istringstream there(other);
    DifferingLines lines;
    do {
        ++lines.number;
        lines.one.clear();
        lines.other.clear();
        std::getline(here, lines.one);
        std::getline(there, lines.other);
    } while (lines.one == lines.other && (here || there));
    return lines;
}

}  // namespace

StudyKey key_of(const Scenario& scenario)
{
    StudyKey key;
    key.name = scenario.name;
    key.text = scenario.text;
    key.seed = scenario.seed;
    key.held = {scenario.search.space_part};
    key.space_parts = scenario.search.space_parts;
    key.strategy = scenario.search.strategy;
    key.max_evaluations = scenario.search.max_evaluations;
    return key;
}

StudyKey key_of(const StudyInfo& results)
{
    StudyKey key;
    key.name = results.scenario_name;
    key.text = results.scenario_text;
    key.seed = results.seed;
    key.held = results.held;
    key.space_parts = results.space_parts;
    key.strategy = results.strategy;
    return key;
}

std::string difference(const StudyKey& one, const StudyKey& other, const Places& places)
{
    const auto differing = [&places](std::string_view what, const auto& here, const auto& there) {
        return fmt::format("{} ({} {}, {} {})", what, here, places.one, there, places.other);
    };
    const auto space_part_of = [](const StudyKey& key) {
        return fmt::format("{}/{}", fmt::join(key.held, ","), key.space_parts);
    };
    if (one.text != other.text) {
        const auto quoted = [](const std::string& text) { return "\"" + escape_controls(text) + "\""; };
        if (one.name != other.name) {
            return differing("scenario", quoted(one.name), quoted(other.name));
        }
        const DifferingLines lines = first_differing(one.text, other.text);
        return differing(fmt::format("scenario in line {}", lines.number), quoted(lines.one),
                         quoted(lines.other));
    }
    if (one.seed != other.seed) {
        return differing("seed", one.seed, other.seed);
    }
    if (space_part_of(one) != space_part_of(other)) {
        return differing("part of the space", space_part_of(one), space_part_of(other));
    }
    const bool both_asked = one.max_evaluations && other.max_evaluations;
    const std::string& asked = one.max_evaluations ? one.strategy : other.strategy;
    // Results hold what a strategy that chooses another one chose.
    if (one.strategy != other.strategy && (both_asked || !facts_of_strategy(asked).chooses)) {
        return differing("strategy", one.strategy, other.strategy);
    }
    if (both_asked && one.max_evaluations != other.max_evaluations) {
        return differing("limit of evaluations", *one.max_evaluations, *other.max_evaluations);
    }
    return {};
}

}  // namespace prismopt
