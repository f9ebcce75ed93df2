#include "tests/benchmarks/roofs.hpp"

#include "tests/benchmarks/clock.hpp"
#include "tests/benchmarks/jobs.hpp"

#include "model/base/registers.hpp"
#include "model/step/sample/op_window.hpp"
#include "model/step/sample/plan_step.hpp"

#include <array>
#include <vector>

namespace prismopt::bench {

namespace {

constexpr int rows = 24;  // of 256 bytes, in each of four arrays: 24 KiB

struct Rows {
    std::array<Floats, rows> at{};
};

template <class R>
[[gnu::always_inline]] inline void max_plus(const Rows& a, const Rows& b, const Rows& c, Rows& out)
{
    for (int r = 0; r < rows; ++r) {
        for (int v = 0; v < R::per_row; ++v) {
            const typename R::Float x = R::at(a.at[r], v);
            const typename R::Float y = R::at(b.at[r], v);
            R::at(out.at[r], v) = (x > y ? x : y) + R::at(c.at[r], v);
        }
    }
}

}  // namespace

double first_level_bytes_per_s()
{
    static thread_local Rows a;
    static thread_local Rows b;
    static thread_local Rows c;
    static thread_local Rows out;
    constexpr int repeats = 2000;
    const double seconds = seconds_of([] {
        for (int i = 0; i < repeats; ++i) {
            on_registers([](auto registers) PRISMOPT_INLINE { max_plus<decltype(registers)>(a, b, c, out); });
            keep(out);
        }
    });
    return 4.0 * sizeof(Rows) * repeats / seconds;
}

double phases_s_per_op_draw()
{
    static const PipelineJob job(16, 64);
    static const ExecutionGraph graph = job.graph();
    constexpr std::size_t window = 16;
    constexpr int repeats = 200;
    const std::span<const ProgramOp> ops =
        std::span(graph.program->ops).subspan(graph.program->ops.size() / 2, window);
    std::vector<OpDraws> draws(window);
    const FleetPhilox philox(1, Words{});
    const DrawKeys keys{philox, Purpose::search, 0, graph.first_slot.data()};
    const BoundPlan plan(graph, 2);
    std::vector<Floats> state(2 * graph.stages() + graph.program->slots + graph.program->shape.microbatches +
                              1);
    std::vector<Floats> exchanges(2 * graph.distribution.size());
    PipelineRun run;
    run.distribution = plan.spread.data();
    run.gradients_end = state.data();
    run.compute_factor = run.gradients_end + graph.stages();
    run.slot = state.data() + static_cast<std::ptrdiff_t>(2) * graph.stages();
    run.microbatch = run.slot + graph.program->slots;
    run.communication_factor = run.microbatch + graph.program->shape.microbatches;
    run.transfer_factor = run.communication_factor;
    run.gathered = exchanges.data();
    run.reduce = exchanges.data() + graph.distribution.size();
    const PipelineRun* const running = &run;
    const double fill = wall_seconds_of([&] {
        for (int i = 0; i < repeats; ++i) {
            fill_draws(ops, keys, job.problem().noise, {}, draws.data());
        }
    });
    const double max_plus_of_distributions = wall_seconds_of([&] {
        for (int i = 0; i < repeats; ++i) {
            run_window(ops, draws.data(), {}, {&running, 1});
        }
    });
    return (fill + max_plus_of_distributions) / (static_cast<double>(repeats) * window * lanes);
}

}  // namespace prismopt::bench
