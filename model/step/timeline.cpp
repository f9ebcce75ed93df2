#include "model/step/timeline.hpp"

#include "model/step/mean_step.hpp"

#include <algorithm>
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
    explicit Recorder(const ExecutionGraph& graph) : graph_(graph), run_(graph, -1, 1.0) {}

    std::vector<TimelineEvent> record()
    {
        std::vector<double> slot_end(graph_.program->slots);
        std::vector<double> busy_until(graph_.stages(), 0.0);
        std::vector<int> reduced;  // parts, in the order in which their gradients are there
        run_.run([&](std::size_t, const ProgramOp& op, double start, double end, bool) {
            if (op.in != Program::start) {
                const double sent = slot_end[op.in];
                const bool forward = is_forward(op.pass);
                add({op.stage, forward ? TimelineStream::receive_activations : TimelineStream::receive_gradients,
                     Activity::transfer, op.chunk, op.microbatch, sent,
                     sent + static_cast<double>(graph_.law_of(op).transfer_s)});
            }
            add({op.stage, TimelineStream::compute, Activity::bubble, -1, -1, busy_until[op.stage], start});
            add({op.stage, TimelineStream::compute, activity_of(op.pass), op.chunk, op.microbatch, start, end});
            busy_until[op.stage] = end;
            slot_end[op.out] = end;
            if (op.last_of_chunk && graph_.dp_overlap == DataParallelOverlap::on) {
                add_reduction(static_cast<int>(op.part), run_.gradients_end(op.stage));
            } else if (op.last_of_chunk) {
                reduced.push_back(static_cast<int>(op.part));
            }
        });
        double last = 0.0;
        for (const int part : reduced) {
            const int stage = part / graph_.chunks();
            busy_until[stage] += static_cast<double>(graph_.reduce_scatter_s[part]);
            add_reduction(part, busy_until[stage]);
        }
        for (int stage = 0; stage < graph_.stages(); ++stage) {
            last = std::max(last, run_.gradients_end(stage));
        }
        for (int stage = 0; stage < graph_.stages(); ++stage) {
            add_ends(stage, graph_.ahead_s.empty() ? last : run_.gradients_end(stage));
        }
        const auto place = [](const TimelineEvent& e) { return std::tuple(e.stage, e.stream, e.start_s, e.end_s); };
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

    void add_reduction(int part, double end)
    {
        const double start = end - static_cast<double>(graph_.reduce_scatter_s[part]);
        add({part / graph_.chunks(), TimelineStream::exchange, Activity::reduction, part % graph_.chunks(), -1, start, end});
    }

    /// The gathers before a stage's ops, and its optimizer.
    void add_ends(int stage, double optimizer_start)
    {
        double gathered = 0.0;
        for (int chunk = 0; chunk < graph_.chunks(); ++chunk) {
            const auto seconds = static_cast<double>(graph_.all_gather_s[stage * graph_.chunks() + chunk]);
            add({stage, TimelineStream::exchange, Activity::gather, chunk, -1, gathered, gathered + seconds});
            gathered += seconds;
        }
        add({stage, TimelineStream::compute, Activity::optimizer, -1, -1, optimizer_start,
             optimizer_start + graph_.group_mean * static_cast<double>(graph_.optimizer_s[stage])});
    }

    const ExecutionGraph& graph_;
    MeanRun run_;
    std::vector<TimelineEvent> events_;
};

}  // namespace

std::vector<TimelineEvent> mean_timeline(const ExecutionGraph& graph) { return Recorder(graph).record(); }

}  // namespace prismopt
