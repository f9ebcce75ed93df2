#include "model/step/sample/sampler.hpp"

#include "model/base/parallel.hpp"
#include "model/step/sample/op_window.hpp"
#include "model/step/sample/plan_step.hpp"

#include <cstdlib>

#include <algorithm>
#include <cassert>
#include <deque>
#include <optional>

namespace prismopt {

namespace {

// Ops whose draws are filled at once, by what uses them. One plan uses each draw once: so many as the
// first-level cache holds. A group of plans, whose state stays in the second-level cache: so many as lie
// there beside it. Many groups: so many as the third-level cache holds, and each group takes them through the
// second-level cache in windows.
constexpr std::size_t window_of_one = 24;
constexpr std::size_t window_of_many = 256;
constexpr std::size_t filled_for_groups = 2048;
constexpr std::size_t cached_state = std::size_t{1} << 18;  // bytes
// Plans that share a filling, which costs about as much as running five to thirty plans through it.
constexpr std::size_t largest_lot = 1024;
constexpr std::size_t largest_lot_rows = std::size_t{1}
                                         << 17;  // of coupled replicas' factors: 32 MiB a thread

/// Plans whose ops have the same keys in the same order.
struct Lot {
    std::vector<std::size_t> plans;
    int simulated = 0;  // most replicas that one of them simulates
    std::size_t coupled_rows = 0;
    SharedDistributions shared;
    LotExtent extent;
};

bool same_keys(const ExecutionGraph& a, const ExecutionGraph& b)
{
    return a.program == b.program && a.first_slot == b.first_slot;
}

/// What all plans of a lot have as `distribution`, or null.
const StandardDistribution* distribution_of_lot(const std::vector<BoundPlan>& plans, const Lot& lot,
                                                const StandardDistribution* BoundPlan::*distribution)
{
    const StandardDistribution* first = plans[lot.plans.front()].*distribution;
    const bool same = std::all_of(lot.plans.begin(), lot.plans.end(),
                                  [&](std::size_t plan) { return plans[plan].*distribution == first; });
    return same ? first : nullptr;
}

void complete(Lot& lot, const std::vector<BoundPlan>& plans)
{
    lot.shared.communicates = false;
    for (const std::size_t index : lot.plans) {
        const BoundPlan& plan = plans[index];
        lot.simulated = std::max(lot.simulated, plan.simulated);
        lot.extent.cover(extent_of(plan));
        lot.shared.communicates = lot.shared.communicates || plan.communicates;
    }
    const StandardDistribution* compute = distribution_of_lot(plans, lot, &BoundPlan::compute_distribution);
    const StandardDistribution* communication =
        distribution_of_lot(plans, lot, &BoundPlan::communication_distribution);
    if (compute != nullptr && (communication != nullptr || !lot.shared.communicates)) {
        lot.shared.compute = compute;
        lot.shared.communication = communication;
    }
}

std::vector<Lot> lots_of(const std::vector<BoundPlan>& plans, std::size_t largest)
{
    std::vector<Lot> lots;
    for (std::size_t plan = 0; plan < plans.size(); ++plan) {
        const auto open = std::find_if(lots.rbegin(), lots.rend(), [&](const Lot& lot) {
            return lot.plans.size() < largest &&
                   lot.coupled_rows + plans[plan].coupled_rows() <= largest_lot_rows &&
                   same_keys(plans[lot.plans.front()].graph, plans[plan].graph);
        });
        Lot& lot = open == lots.rend() ? lots.emplace_back() : *open;
        lot.plans.push_back(plan);
        lot.coupled_rows += plans[plan].coupled_rows();
    }
    for (Lot& lot : lots) {
        complete(lot, plans);
    }
    return lots;
}

/// Plans of a group: whole numbers of those that go together.
std::size_t group_of(const Program& program)
{
    const std::size_t cached = cached_state / sizeof(Floats) / program.slots;
    return std::max<std::size_t>(cached / plans_together, 1) * plans_together;
}

/// One thread's work on a lot: a block of fleets in one step.
class LotStep {
public:
    LotStep(const std::vector<BoundPlan>& plans, const Lot& lot, const NoiseTables& noise,
            const SamplerOptions& options)
        : lot_(lot), program_(*plans[lot.plans.front()].graph.program), at_(noise, options, lot.extent),
          group_(std::min(group_of(program_), lot.plans.size())),
          window_(lot.plans.size() > 1 ? window_of_many : window_of_one),
          draws_(std::min(lot.plans.size() > group_ ? filled_for_groups : window_, program_.ops.size())),
          slots_((draws_.size() == program_.ops.size() ? group_ : lot.plans.size()) * program_.slots),
          microbatch_(noise.microbatch_varies ? lot.extent.microbatches * at_.microbatch_powers() : 0),
          times_(lot.plans.size())
    {
        for (const std::size_t plan : lot.plans) {
            steps_.emplace_back(plans[plan], noise);
        }
    }

    /// Step times of each plan of the lot.
    const std::vector<Floats>& run(int first_fleet, int step)
    {
        at_.begin(first_fleet, step);
        for (int k = 0; k < lot_.simulated; ++k) {
            run_replicas(k);
        }
        return times_;
    }

private:
    /// The k-th simulated replica of every plan. Replicas are equal but for their
    /// factors: the ops' draws go by k.
    void run_replicas(int k)
    {
        const auto replica = static_cast<std::uint32_t>(k);
        const DrawKeys keys{at_.philox, at_.options.purpose, step_replica(at_.step, replica),
                            lot_.extent.first_slot.data()};
        at_.draw_microbatches(replica, microbatch_);
        const std::span<const ProgramOp> ops = program_.ops;
        for (std::size_t first = 0; first < ops.size(); first += draws_.size()) {
            const auto filled = ops.subspan(first, std::min(draws_.size(), ops.size() - first));
            fill_draws(filled, keys, at_.noise, lot_.shared, draws_.data());
            for (std::size_t plan = 0; plan < steps_.size(); plan += group_) {
                const std::size_t end = std::min(plan + group_, steps_.size());
                if (first == 0) {
                    begin(k, plan, end);
                }
                run_windows(filled, k, plan, end);
                if (first + filled.size() == ops.size()) {
                    this->end(k, plan, end);
                }
            }
        }
    }

    // Of plans first .. end - 1, which are a group:

    void begin(int k, std::size_t first, std::size_t end)
    {
        for (std::size_t i = first; i < end; ++i) {
            PlanStep& plan = steps_[i];
            if (k == 0) {
                plan.begin(at_, factors_);
            }
            if (k < plan.simulated()) {
                plan.begin_replica(at_, k, microbatch_, &slots_[i * program_.slots % slots_.size()]);
            }
        }
    }

    void run_windows(std::span<const ProgramOp> filled, int k, std::size_t first, std::size_t end)
    {
        running_.clear();
        for (std::size_t i = first; i < end; ++i) {
            if (k < steps_[i].simulated()) {
                running_.push_back(&steps_[i].pipeline());
            }
        }
        for (std::size_t op = 0; op < filled.size(); op += window_) {
            const auto window = filled.subspan(op, std::min(window_, filled.size() - op));
            run_window(window, draws_.data() + op, lot_.shared, running_);
        }
    }

    void end(int k, std::size_t first, std::size_t end)
    {
        for (std::size_t i = first; i < end; ++i) {
            PlanStep& plan = steps_[i];
            if (k < plan.simulated()) {
                plan.end_replica(k);
            }
            if (k == lot_.simulated - 1) {
                times_[i] = plan.end(at_);
            }
        }
    }

    const Lot& lot_;
    const Program& program_;  // of all of them
    BlockStep at_;
    std::size_t group_;   // plans
    std::size_t window_;  // ops
    std::deque<PlanStep> steps_;
    std::vector<const PipelineRun*> running_;  // of a group
    std::vector<OpDraws> draws_;
    // [plan * slots + slot]; of one group after the other where each runs through the whole program at once
    std::vector<Floats> slots_;
    std::vector<Floats> microbatch_;  // of the k-th replica
    std::vector<Floats> factors_;
    std::vector<Floats> times_;  // [plan]
};

/// The lot that a thread works on, in cache lines of its own.
struct alignas(64) BoundLot {
    std::size_t lot = 0;
    std::optional<LotStep> step;
};

}  // namespace

std::vector<std::vector<double>> sample_steps(std::span<const ExecutionGraph* const> graphs,
                                              const NoiseTables& noise, const DrawRange& range,
                                              const SamplerOptions& options)
{
    assert(range.first_fleet % block_fleets == 0 && range.fleets % block_fleets == 0);
    std::vector<BoundPlan> plans;
    plans.reserve(graphs.size());
    for (const ExecutionGraph* graph : graphs) {
        plans.emplace_back(*graph, options.replicas_simulated);
    }
    const int block_steps = range.fleets / block_fleets * range.steps;
    // With few draws, threads share the plans out.
    const auto threads = static_cast<std::size_t>(parallel_threads());
    const std::size_t enough =
        block_steps < static_cast<int>(threads) ? (plans.size() + threads - 1) / threads : plans.size();
    const std::vector<Lot> lots = lots_of(plans, std::clamp<std::size_t>(enough, 1, largest_lot));
    std::vector<std::vector<double>> seconds(plans.size());
    for (auto& times : seconds) {
        times.resize(static_cast<std::size_t>(range.fleets) * range.steps);
    }
    const auto units = static_cast<std::int64_t>(lots.size()) * block_steps;
    std::vector<BoundLot> of_thread(threads);
    parallel_for(units, [&](int thread, std::int64_t unit) {
        BoundLot& bound = of_thread[static_cast<std::size_t>(thread)];
        const auto lot = static_cast<std::size_t>(unit / block_steps);
        const auto block_step = static_cast<int>(unit % block_steps);
        const int first = block_step / range.steps * block_fleets;
        const int step = block_step % range.steps;
        if (!bound.step || lot != bound.lot) {
            bound.lot = lot;
            bound.step.emplace(plans, lots[lot], noise, options);
        }
        const std::vector<Floats>& times = bound.step->run(range.first_fleet + first, step);
        for (std::size_t i = 0; i < times.size(); ++i) {
            std::vector<double>& out = seconds[lots[lot].plans[i]];
            store(times[i], range.steps, &out[static_cast<std::size_t>(first) * range.steps + step]);
        }
    });
    return seconds;
}

std::vector<DrawRange> split_range(const DrawRange& range, std::size_t graphs)
{
    constexpr std::size_t draws_of_sub_range = std::size_t{1} << 14;
    const std::size_t draws_of_fleet = static_cast<std::size_t>(range.steps) * graphs;
    const auto blocks = static_cast<int>(draws_of_sub_range / draws_of_fleet / block_fleets);
    const int fleets = std::max(blocks, parallel_threads()) * block_fleets;
    std::vector<DrawRange> ranges;
    for (int done = 0; done < range.fleets; done += fleets) {
        ranges.push_back({range.first_fleet + done, std::min(fleets, range.fleets - done), range.steps});
    }
    return ranges;
}

std::vector<double> sample_steps(const ExecutionGraph& graph, const NoiseTables& noise,
                                 const DrawRange& range, const SamplerOptions& options)
{
    const ExecutionGraph* one = &graph;
    return std::move(sample_steps({&one, 1}, noise, range, options).front());
}

}  // namespace prismopt
