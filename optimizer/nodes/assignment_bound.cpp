#include "optimizer/nodes/assignment_bound.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace prismopt {

namespace {

/// Places that serve the same.
struct PlaceKind {
    int example = 0;
    std::size_t places = 0;
};

/// [group on the place]: its stage, and which of the place's replicas it belongs to.
std::vector<std::pair<int, int>> served_by(const Placement& at, int place)
{
    const int first = place * at.gpus_per_node / at.tp;
    const int last =
        std::min((place * at.gpus_per_node + at.gpus_per_node - 1) / at.tp, at.replicas * at.stages - 1);
    std::vector<std::pair<int, int>> served;
    std::vector<int> replicas;
    for (int group = first; group <= last; ++group) {
        const Placement::Position position = at.position(group);
        auto known = std::find(replicas.begin(), replicas.end(), position.replica);
        if (known == replicas.end()) {
            known = replicas.insert(replicas.end(), position.replica);
        }
        served.emplace_back(static_cast<int>(known - replicas.begin()), position.stage);
    }
    return served;
}

std::vector<PlaceKind> place_kinds(const Placement& at, int places)
{
    std::map<std::vector<std::pair<int, int>>, PlaceKind> kinds;
    for (int place = 0; place < places; ++place) {
        ++kinds.try_emplace(served_by(at, place), PlaceKind{place, 0}).first->second.places;
    }
    std::vector<PlaceKind> list;
    std::transform(kinds.begin(), kinds.end(), std::back_inserter(list),
                   [](const auto& kind) { return kind.second; });
    return list;
}

/// p99 with one node slow; and how many places are so harmful.
using Harm = std::pair<double, std::size_t>;

/// From the least harmful kind of place to the most.
std::vector<Harm> harms(const std::vector<PlaceKind>& kinds, const std::vector<float>& fast, float slow,
                        const NodesJudge& judge)
{
    std::vector<std::vector<float>> one_slow(kinds.size(), fast);
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        one_slow[i][kinds[i].example] = slow;
    }
    const std::vector<double> p99 = judge(one_slow);
    std::vector<Harm> list;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        list.emplace_back(p99[i], kinds[i].places);
    }
    std::sort(list.begin(), list.end());
    return list;
}

}  // namespace

double assignment_bound(const Placement& at, std::vector<float> factors, const NodesJudge& judge,
                        std::size_t most_judged)
{
    std::sort(factors.rbegin(), factors.rend());
    const std::vector<float> fast(factors.size(), factors.back());
    double bound = judge(std::span(&fast, 1)).front();
    const std::vector<PlaceKind> kinds = place_kinds(at, static_cast<int>(factors.size()));
    const std::size_t rounds = std::clamp<std::size_t>(most_judged / kinds.size(), 1, kinds.size());
    std::size_t filled = 0;  // places that less slow nodes can all have
    for (std::size_t round = 0; round < rounds && filled < factors.size() && factors[filled] > factors.back();
         ++round) {
        const std::vector<Harm> list = harms(kinds, fast, factors[filled], judge);
        std::size_t places = 0;
        const auto least = std::find_if(list.begin(), list.end(), [&](const Harm& harm) {
            places += harm.second;
            return places > filled;
        });
        bound = std::max(bound, least->first);
        filled = places;
    }
    return bound;
}

}  // namespace prismopt
