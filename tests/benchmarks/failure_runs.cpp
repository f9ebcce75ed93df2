#include "tests/benchmarks/failure_runs.hpp"

#include "tests/benchmarks/clock.hpp"

#include "model/run/histories.hpp"

#include <benchmark/benchmark.h>

#include <cmath>
#include <string>

namespace prismopt::bench {

namespace {

constexpr double day = 86400.0;

Reliability reliability(bool everything)
{
    Reliability r;
    r.checkpoint_write = Seconds{30.0};
    const double interruptions = 419.0 / (54 * day * 2048);
    const int causes = everything ? 6 : 1;
    for (int c = 0; c < causes; ++c) {
        Cause cause;
        cause.name = std::to_string(c);
        cause.rate = PerSecond{interruptions / causes};
        cause.detection = Seconds{120.0};
        cause.restart = Seconds{480.0};
        if (everything) {
            cause.gaps = c % 2 == 0 ? GapDistribution{} : GapDistribution{GapFamily::weibull, 2.0};
            cause.repair = Seconds{2 * day};
            cause.repair_cv = 2.0;
            cause.memory_kept = 0.5;
        }
        r.causes.push_back(cause);
    }
    if (everything) {
        Cause planned;
        planned.rate = PerSecond{1.0 / day};
        planned.of = RateOf::job;
        planned.gaps = {GapFamily::constant, 0.0};
        planned.restart = Seconds{600.0};
        planned.planned = true;
        r.causes.push_back(planned);
        r.write = CheckpointWrite::asynchronous;
        r.snapshot = Seconds{5.0};
        r.memory = {Seconds{60.0}, Seconds{0.5}};
        r.spares = 64;
        r.node_cv = 1.0;
    }
    return r;
}

}  // namespace

double failure_runs_s(bool everything)
{
    const Reliability r = reliability(everything);
    const QuantileTable exponential(
        [](double p, bool upper) { return upper ? -std::log(p) : -std::log1p(-p); });
    FailureTables tables(exponential);
    const FailureModel model = failure_model(r, {2048, 16384});
    const RunSegment segment{model, 16384, std::vector<double>(10'000, 0.9 * 54 * day)};
    return seconds_of([&] {
        auto runs = sample_histories({&segment, 1}, all_causes(r).size(), tables, 1, Purpose::search);
        keep(runs);
    });
}

namespace {

void failure_runs(benchmark::State& state)
{
    for (auto _ : state) {
        benchmark::DoNotOptimize(failure_runs_s(state.range(0) != 0));
    }
}
BENCHMARK(failure_runs)->ArgName("everything")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace

}  // namespace prismopt::bench
