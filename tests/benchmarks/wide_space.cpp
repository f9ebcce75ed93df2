#include "tests/benchmarks/wide_space.hpp"

#include "io/scenario/reading/read_scenario.hpp"
#include "search/strategies/exact/exploration.hpp"
#include "tests/benchmarks/clock.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace prismopt::bench {

namespace {

Scenario wide_scenario()
{
    Scenario s = read_scenario(PRISMOPT_SOURCE_DIR "/jobs/scenarios/llama3-405b-16k.toml");
    s.space.gpus.clear();
    for (int gpus = 256; gpus <= 16384; gpus += 256) {
        s.space.gpus.push_back(gpus);
    }
    s.space.cp = {1, 2, 4, 8};
    s.space.pp = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 12, 14, 16,  18, 20,
                  21, 24, 28, 32, 36, 40, 42, 48, 56, 63, 64, 96, 126, 128};
    s.space.v = {1, 2, 3, 4, 6, 8, 12, 16};
    s.space.microbatch = {1, 2, 4, 8};
    s.space.schedule = {Schedule::gpipe,  Schedule::one_f_one_b, Schedule::interleaved,
                        Schedule::zb_h1,  Schedule::zb_h2,       Schedule::zb_v,
                        Schedule::v_half, Schedule::v_min,       Schedule::dualpipe_v};
    s.space.sharding = {Sharding::none, Sharding::zero1, Sharding::zero2, Sharding::zero3};
    s.space.dp_overlap = {DataParallelOverlap::on, DataParallelOverlap::off};
    s.space.tp_overlap = {TensorParallelOverlap::on, TensorParallelOverlap::off};
    return s;
}

/// The bounds of an explored front, two percent higher: about the limits of a search.
std::vector<std::vector<double>> limits_near_the_best(const StudyModel& model, Worker& worker)
{
    Exploration exploration(model.designs.space(), 1, {.generations = 16});
    for (auto points = exploration.ask(); !points.empty(); points = exploration.ask()) {
        for (const std::uint64_t point : points) {
            exploration.tell(worker.sweep({.begin = point, .end = point + 1}).feasible);
        }
    }
    std::vector<std::vector<double>> limits;
    for (const Bound& bound : exploration.front()) {
        std::vector<double>& limit = limits.emplace_back(bound.objectives);
        for (std::size_t k = 0; k < limit.size(); ++k) {
            limit[k] *= model.objectives[k]->name == "gpus" ? 1.0 : 1.02;
        }
    }
    return limits;
}

}  // namespace

WideSpace::WideSpace()
    : scenario_(wide_scenario()), model_(scenario_), worker_(model_),
      limits_(limits_near_the_best(model_, worker_))
{
}

double WideSpace::bounds_per_s()
{
    constexpr std::uint64_t ranges = 64;
    constexpr std::uint64_t share = 64;        // of a range
    constexpr double golden = 0.618033988749;  // places in the ranges that no period of the space repeats
    const std::uint64_t range_size = model_.designs.space().size() / ranges;
    std::uint64_t bounded = 0;
    const double seconds = seconds_of([&] {
        for (std::uint64_t i = 0; i < ranges; ++i) {
            const double place = std::fmod(golden * static_cast<double>(i), 1.0 - 1.0 / share);
            const std::uint64_t begin =
                i * range_size + static_cast<std::uint64_t>(place * static_cast<double>(range_size));
            const Sweep sweep =
                worker_.sweep({.begin = begin, .end = begin + range_size / share, .limits = limits_});
            bounded += sweep.feasible.size() + sweep.excluded + sweep.unchecked;
        }
    });
    return static_cast<double>(bounded) / seconds;
}

}  // namespace prismopt::bench
