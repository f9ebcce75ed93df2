#pragma once

/// What distinguishes studies: scenario, seed, part of the space and strategy.

#include "io/results/results.hpp"
#include "io/scenario/scenario.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

struct StudyKey {
    std::string name;
    std::string text;  // of the scenario
    std::uint64_t seed = 0;
    std::vector<int> held{1};  // parts of the space
    int space_parts = 1;
    std::string strategy;                          // of a scenario: as asked for; of results: as chosen
    std::optional<std::uint64_t> max_evaluations;  // of a scenario; results do not store it
};

StudyKey key_of(const Scenario& scenario);
StudyKey key_of(const StudyInfo& results);

/// Where the keys were found: "in the journal", "in the results".
struct Places {
    std::string_view one;
    std::string_view other;
};

/// The first difference: "seed (1 in the journal, 2 in the results)". Empty: none, so both are of one study.
std::string difference(const StudyKey& one, const StudyKey& other, const Places& places);

}  // namespace prismopt
