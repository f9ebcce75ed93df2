/// Speed of an enumeration: tuples that break a rule of the space.

#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario.hpp"
#include "optimizer/space/design_map.hpp"

#include <benchmark/benchmark.h>

namespace prismopt::bench {
namespace {

/// The mixture's scenario with axes so wide that nearly every tuple breaks a rule.
const Scenario& wide()
{
    static const Scenario scenario = [] {
        Scenario s = read_scenario(PRISMOPT_SOURCE_DIR "/jobs/scenarios/deepseek-v3-2048.toml");
        s.space.gpus = {256, 384, 512, 768, 1024, 1536, 2048};
        s.space.tp = {1, 2, 4, 8, 16};
        s.space.cp = {1, 2, 4, 8};
        s.space.pp = {1, 2, 4, 6, 8, 12, 16, 24, 32};
        s.space.microbatch = {1, 2, 4, 8, 16};
        return s;
    }();
    return scenario;
}

/// Items: tuples that are rejected, by whole sub-spaces where an early axis breaks the rule.
void rejected_tuples(benchmark::State& state)
{
    const DesignMap designs(wide());
    std::int64_t rejected = 0;
    for (auto _ : state) {
        for (const Rejected& reason : designs.space().enumerate(0, designs.space().size(),
                                                                [](std::uint64_t, std::span<const int>) {})) {
            rejected += static_cast<std::int64_t>(reason.count);
        }
    }
    state.SetItemsProcessed(rejected);
}
BENCHMARK(rejected_tuples)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace prismopt::bench
