#pragma once

/// What a scenario states about replicas in different buildings that use local updates between
/// two exchanges: [local_updates].

#include "model/network/workload.hpp"
#include "model/plan/phase.hpp"
#include "model/run/local_updates.hpp"

#include <string>
#include <vector>

namespace prismopt {

struct Scenario;

/// The price as stated.
struct LocalUpdatesPrice {
    bool published = false;  // from published_local_gap()
    LocalUpdates given{};    // else

    bool stated() const { return published || given.stated(); }
};

/// Returns the largest number of buildings that a plan of the space uses; 1 on a cluster of one building.
int most_buildings(const Scenario& scenario);

/// Returns the price for a network that reaches the same loss in this number of tokens without local updates.
LocalUpdates local_updates_of(const Scenario& scenario, const Workload& workload, double tokens);

/// What local updates cost in tokens, in words; empty if the space has none.
std::string local_updates_text(const Scenario& scenario);

}  // namespace prismopt
