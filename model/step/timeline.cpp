#include "model/step/timeline.hpp"

#include "model/step/graph/execution_graph.hpp"
#include "model/step/graph/mean_step.hpp"
#include "model/step/sample/plan_step.hpp"
#include "model/step/sample/sampler.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

namespace prismopt {

namespace {

Activity activity_of(Pass pass)
{
    switch (pass) {
        case Pass::forward: return Activity::forward;
        case Pass::backward: return Activity::backward;
        case Pass::input_gradient: return Activity::input_gradient;
        case Pass::weight_gradient: return Activity::weight_gradient;
        case Pass::paired_forward:
        case Pass::paired_backward: break;
    }
    return Activity::pair;
}

class Recorder {
public:
    explicit Recorder(const ExecutionGraph& graph)
        : graph_(graph), slot_end_(graph.program->slots), busy_until_(graph.stages()),
          after_ops_(graph.stages())
    {
    }

    /// `transfer_s`: of its input, where it has one.
    void op(const ProgramOp& op, double start, double end, double transfer_s)
    {
        if (op.in != Program::start) {
            add({op.stage,
                 is_forward(op.pass) ? TimelineStream::receive_activations
                                     : TimelineStream::receive_gradients,
                 Activity::transfer, op.chunk, op.microbatch, slot_end_[op.in],
                 slot_end_[op.in] + transfer_s});
        }
        add({op.stage, TimelineStream::compute, Activity::bubble, -1, -1, busy_until_[op.stage], start});
        add({op.stage, TimelineStream::compute, activity_of(op.pass), op.chunk, op.microbatch, start, end});
        busy_until_[op.stage] = end;
        slot_end_[op.out] = end;
    }
    void gather(int stage_chunk, double start, double end)
    {
        add({stage_chunk / graph_.chunks(), TimelineStream::exchange, Activity::gather,
             stage_chunk % graph_.chunks(), -1, start, end});
    }
    /// `end`: where it runs beside ops. Others run after the stage's last op, one after the other.
    void reduction(int stage_chunk, double seconds, double end)
    {
        if (graph_.dp_overlap == DataParallelOverlap::on) {
            add_reduction(stage_chunk, end - seconds, end);
        } else {
            after_ops_[stage_chunk / graph_.chunks()].emplace_back(stage_chunk, seconds);
        }
    }
    void optimizer(int stage, double start, double seconds)
    {
        add({stage, TimelineStream::compute, Activity::optimizer, -1, -1, start, start + seconds});
    }

    std::vector<TimelineEvent> done(double step_s)
    {
        for (int stage = 0; stage < graph_.stages(); ++stage) {
            for (const auto& [stage_chunk, seconds] : after_ops_[stage]) {
                add_reduction(stage_chunk, busy_until_[stage], busy_until_[stage] + seconds);
                busy_until_[stage] += seconds;
            }
        }
        if (!graph_.ahead_s.empty()) {
            repeat_after(step_s);
        }
        const auto place = [](const TimelineEvent& e) {
            return std::tuple(e.stage, e.stream, e.start_s, e.end_s);
        };
        std::stable_sort(events_.begin(), events_.end(),
                         [&](const TimelineEvent& a, const TimelineEvent& b) { return place(a) < place(b); });
        return std::move(events_);
    }

private:
    void add(const TimelineEvent& event)
    {
        if (event.end_s > event.start_s) {
            events_.push_back(event);
        }
    }
    void add_reduction(int stage_chunk, double start, double end)
    {
        add({stage_chunk / graph_.chunks(), TimelineStream::exchange, Activity::reduction,
             stage_chunk % graph_.chunks(), -1, start, end});
    }

    /// Steps follow each other while stages are still at work: what a stage does after the step's length is
    /// shown at its beginning, where the stage waits, as that of the step before.
    void repeat_after(double step_s)
    {
        std::vector<double> before(graph_.stages(), 0.0);
        std::vector<TimelineEvent> all;
        std::swap(all, events_);
        for (TimelineEvent event : all) {
            TimelineEvent rest = event;
            event.end_s = std::min(event.end_s, step_s);
            rest.start_s = std::max(rest.start_s, step_s) - step_s;
            rest.end_s -= step_s;
            add(event);
            add(rest);
            if (event.stream == TimelineStream::compute) {
                before[event.stage] = std::max(before[event.stage], rest.end_s);
            }
        }
        for (TimelineEvent& event : events_) {
            if (event.activity == Activity::bubble && event.start_s == 0.0) {
                event.start_s = before[event.stage];
            }
        }
        std::erase_if(events_, [](const TimelineEvent& event) { return event.start_s >= event.end_s; });
    }

    const ExecutionGraph& graph_;
    std::vector<double> slot_end_;
    std::vector<double> busy_until_;  // [stage]
    // [stage]: parts with the seconds of their reductions
    std::vector<std::vector<std::pair<int, double>>> after_ops_;
    std::vector<TimelineEvent> events_;
};

/// One simulated replica of a plan in one lane. Returns when its last stage is done, from when that began.
float record_replica(const BlockStep& at, const DrawKeys& keys, PlanStep& step, int k, int lane,
                     Recorder& recorder)
{
    const ExecutionGraph& graph = step.plan().graph;
    const PipelineRun& run = step.pipeline();
    const PipelineRun* const running = &run;
    const SharedDistributions each_its_own;
    for (const ProgramOp& op : graph.program->ops) {
        OpDraws draws;
        fill_draws({&op, 1}, keys, at.noise, each_its_own, &draws);
        const int tier = graph.distribution_of(op).transfer_tier;
        const float regime = run.transfer_factor != nullptr ? run.transfer_factor[tier].at[lane] : 1.0F;
        const float transfer = graph.distribution_of(op).transfer_s * draws.transfer.at[lane] * regime;
        float start = std::max(run.slot[op.before].at[lane], run.slot[op.in].at[lane] + transfer);
        if (op.first_of_chunk && run.gathered != nullptr) {
            start = std::max(start, run.gathered[op.stage_chunk].at[lane]);
        }
        run_window({&op, 1}, &draws, each_its_own, {&running, 1});
        recorder.op(op, start, run.slot[op.out].at[lane], transfer);
        if (op.last_of_chunk && run.reduce != nullptr) {
            recorder.reduction(static_cast<int>(op.stage_chunk), run.reduce[op.stage_chunk].at[lane],
                               run.gradients_end[op.stage].at[lane]);
        }
    }
    step.end_replica(k);
    float last = 0.0F;
    for (int stage = 0; stage < graph.stages(); ++stage) {
        const float end = step.stage_end(stage).at[lane];
        const float ahead = graph.ahead_s.empty() ? 0.0F : graph.ahead_s[stage];
        last = std::max(last, end - ahead);
        if (!graph.ahead_s.empty()) {
            recorder.optimizer(stage, end, step.optimizer().at[lane]);
        }
    }
    return last;
}

/// The gathers of a stage's parameters, one after the other; `seconds(part)`.
template <class Seconds>
void record_gathers(const ExecutionGraph& graph, Seconds&& seconds, Recorder& recorder)
{
    for (int stage = 0; stage < graph.stages(); ++stage) {
        double gathered = 0.0;
        for (int stage_chunk = stage * graph.chunks(); stage_chunk < (stage + 1) * graph.chunks();
             ++stage_chunk) {
            recorder.gather(stage_chunk, gathered, gathered + seconds(stage_chunk));
            gathered += seconds(stage_chunk);
        }
    }
}

}  // namespace

std::vector<TimelineEvent> mean_timeline(const ExecutionGraph& graph)
{
    Recorder recorder(graph);
    MeanRun run(graph, -1, 1.0);
    run.run([&](std::size_t, const ProgramOp& op, double start, double end, bool) {
        recorder.op(op, start, end, static_cast<double>(graph.distribution_of(op).transfer_s));
        if (op.last_of_chunk) {
            recorder.reduction(static_cast<int>(op.stage_chunk),
                               static_cast<double>(graph.reduction[op.stage_chunk].exposed()),
                               run.gradients_end(op.stage));
        }
    });
    record_gathers(
        graph, [&](int stage_chunk) { return static_cast<double>(graph.gathering[stage_chunk].exposed()); },
        recorder);
    double last = 0.0;
    for (int stage = 0; stage < graph.stages(); ++stage) {
        last = std::max(last, run.gradients_end(stage));
    }
    for (int stage = 0; stage < graph.stages(); ++stage) {
        recorder.optimizer(stage, graph.ahead_s.empty() ? last : run.gradients_end(stage),
                           graph.group_mean * static_cast<double>(graph.optimizer_s[stage]));
    }
    return recorder.done(noise_free_step(graph).step_s - static_cast<double>(graph.outer_s));
}

std::vector<TimelineEvent> draw_timeline(const ExecutionGraph& graph, const NoiseTables& noise,
                                         const SamplerOptions& options, int fleet, int step_of_fleet)
{
    const BoundPlan plan(graph, options.replicas_simulated);
    const LotExtent extent = extent_of(plan);
    BlockStep at(noise, options, extent);
    at.begin(fleet / block_fleets * block_fleets, step_of_fleet);
    const int lane = fleet % block_fleets;
    PlanStep step(plan, noise);
    std::vector<Floats> slots(graph.program->slots);
    std::vector<Floats> factors;
    std::vector<Floats> microbatch(noise.microbatch_varies ? graph.program->shape.microbatches : 0);
    std::optional<Recorder> slowest;
    float last = 0.0F;
    for (int k = 0; k < plan.simulated; ++k) {
        const auto replica = static_cast<std::uint32_t>(k);
        const DrawKeys keys{at.philox, options.purpose, step_replica(at.step, replica),
                            extent.first_slot.data()};
        at.draw_microbatches(replica, microbatch);
        if (k == 0) {
            step.begin(at, factors);
        }
        step.begin_replica(at, k, microbatch, slots.data());
        Recorder recorder(graph);
        const float end = record_replica(at, keys, step, k, lane, recorder);
        if (!slowest || end > last) {
            last = end;
            slowest.emplace(std::move(recorder));
        }
    }
    const Floats* gathers = step.pipeline().gathered;
    const auto seconds = [&](int stage_chunk) {
        if (gathers == nullptr) {
            return 0.0;
        }
        const auto until = [&](int p) { return static_cast<double>(gathers[p].at[lane]); };
        const bool first = stage_chunk % graph.chunks() == 0;
        return first ? until(stage_chunk) : until(stage_chunk) - until(stage_chunk - 1);
    };
    record_gathers(graph, seconds, *slowest);
    const double end = step.end(at).at[lane] - graph.outer_s;
    for (int stage = 0; graph.ahead_s.empty() && stage < graph.stages(); ++stage) {
        const double seconds_of_optimizer = step.optimizer().at[lane];
        slowest->optimizer(stage, end - seconds_of_optimizer, seconds_of_optimizer);
    }
    return slowest->done(end);
}

}  // namespace prismopt
