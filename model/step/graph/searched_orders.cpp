#include "model/step/graph/searched_orders.hpp"

#include "model/step/graph/mean_step.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>

namespace prismopt {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// Sums of shares are not exact.
bool exceeds(double held, const HeldLimit& limit) { return held > limit.most + 1e-6; }

/// Places weight gradients between forwards and input gradients whose order is given.
class GapFiller {
public:
    GapFiller(const ExecutionGraph& graph, const HeldLimit& limit, double filled_gap)
        : graph_(graph), shape_(graph.program->shape), limit_(limit), filled_gap_(filled_gap),
          stages_(shape_.stages), orders_(shape_.stages)
    {
        const std::size_t ends =
            static_cast<std::size_t>(shape_.stages) * shape_.chunks * shape_.microbatches;
        forward_end_.assign(ends, never);
        gradient_end_.assign(ends, never);
    }

    TaskOrders run(const TaskOrders& given)
    {
        std::vector<std::size_t> next(given.size(), 0);
        for (bool moved = true; moved;) {
            moved = false;
            for (int stage = 0; stage < shape_.stages; ++stage) {
                while (next[stage] < given[stage].size()) {
                    const Task& task = given[stage][next[stage]];
                    const double arrival = arrival_of(stage, task);
                    if (arrival == never) {
                        break;
                    }
                    place(stage, task, arrival);
                    ++next[stage];
                    moved = true;
                }
            }
        }
        for (int stage = 0; stage < shape_.stages; ++stage) {
            while (!stages_[stage].waiting.empty()) {
                weight(stage);
            }
        }
        return std::move(orders_);
    }

private:
    struct StageState {
        double free = 0.0;
        double held = 0.0;
        std::deque<Task> waiting;  // weight gradients
    };

    int stage_chunk(int stage, int chunk) const { return stage * shape_.chunks + chunk; }
    double& end_of(bool forward, const StageChunk& at, int microbatch)
    {
        return (forward ? forward_end_ : gradient_end_)
            [static_cast<std::size_t>(stage_chunk(at.stage, at.chunk)) * shape_.microbatches + microbatch];
    }
    const OpDistribution& distribution(int stage, const Task& task) const
    {
        return graph_.distribution[graph_.distribution_at(stage_chunk(stage, task.chunk), task.pass)];
    }
    double seconds(int stage, const Task& task) const
    {
        return static_cast<double>(distribution(stage, task).compute_s) * graph_.group_mean +
               static_cast<double>(distribution(stage, task).communication_s);
    }

    double arrival_of(int stage, const Task& task)
    {
        const StageChunk at{stage, task.chunk};
        const bool forward = is_forward(task.pass);
        const double own = forward ? 0.0 : end_of(true, at, task.microbatch);
        const auto from = neighbour(shape_, at, forward ? -1 : 1);
        return from ? std::max(own, end_of(forward, *from, task.microbatch) +
                                        static_cast<double>(distribution(stage, task).transfer_s))
                    : own;
    }

    void place(int stage, const Task& task, double arrival)
    {
        StageState& own = stages_[stage];
        while (!own.waiting.empty() &&
               arrival - own.free >= filled_gap_ * seconds(stage, own.waiting.front())) {
            weight(stage);
        }
        const bool forward = is_forward(task.pass);
        while (forward && exceeds(own.held + 1.0, limit_) && !own.waiting.empty()) {
            weight(stage);
        }
        own.free = std::max(own.free, arrival) + seconds(stage, task);
        end_of(forward, {stage, task.chunk}, task.microbatch) = own.free;
        orders_[stage].push_back(task);
        if (forward) {
            own.held += 1.0;
        } else {
            own.held -= 1.0 - limit_.for_weights;
            own.waiting.push_back({Pass::weight_gradient, task.chunk, task.microbatch});
        }
    }

    void weight(int stage)
    {
        StageState& own = stages_[stage];
        own.free += seconds(stage, own.waiting.front());
        orders_[stage].push_back(own.waiting.front());
        own.waiting.pop_front();
        own.held -= limit_.for_weights;
    }

    const ExecutionGraph& graph_;
    const ScheduleShape& shape_;
    const HeldLimit& limit_;
    double filled_gap_;
    std::vector<StageState> stages_;
    TaskOrders orders_;
    std::vector<double> forward_end_;   // [(stage * v + chunk) * m + microbatch]
    std::vector<double> gradient_end_;  // of inputs
};

/// Schedules that split the backward pass and have this number of chunks.
std::vector<Schedule> splitting_schedules(int chunks)
{
    std::vector<Schedule> schedules;
    for (const ScheduleFacts& of : schedule_facts) {
        if (of.chunks == chunks && splits_backward(of.schedule)) {
            schedules.push_back(of.schedule);
        }
    }
    return schedules;
}

/// A rule's forwards and input gradients.
TaskOrders without_weights(ScheduleShape shape, Schedule rule)
{
    shape.schedule = rule;
    TaskOrders orders = std::get<TaskOrders>(task_orders(shape));
    for (auto& order : orders) {
        std::erase_if(order, [](const Task& task) { return task.pass == Pass::weight_gradient; });
    }
    return orders;
}

/// Those of one chunk, `ahead` forwards before the first input gradient.
std::vector<Task> one_forward_one_gradient(int microbatches, int ahead)
{
    std::vector<Task> order;
    for (int k = 0; k < microbatches + ahead; ++k) {
        if (k < microbatches) {
            order.push_back({Pass::forward, 0, static_cast<std::uint16_t>(k)});
        }
        if (k >= ahead) {
            order.push_back({Pass::input_gradient, 0, static_cast<std::uint16_t>(k - ahead)});
        }
    }
    return order;
}

/// Activations that a task releases. An input gradient leaves a share for the weight gradient.
double released_by(Pass pass, double for_weights)
{
    if (pass == Pass::input_gradient) {
        return 1.0 - for_weights;
    }
    return pass == Pass::weight_gradient ? for_weights : 0.0;
}

/// Calls visit(task, activations held from its start on) for a rank's tasks.
template <class Visit>
void for_each_held(const std::vector<Task>& order, double for_weights, Visit&& visit)
{
    double held = 0.0;
    for (const Task& task : order) {
        held += is_forward(task.pass) ? 1.0 : 0.0;
        visit(task, held);
        held -= released_by(task.pass, for_weights);
    }
}

/// The most that a rank holds.
double peak(const TaskOrders& orders, double for_weights)
{
    double most = 0.0;
    for (const auto& order : orders) {
        for_each_held(order, for_weights, [&most](const Task&, double held) { most = std::max(most, held); });
    }
    return most;
}

/// Of all rules of these chunks the orders that hold least; weight gradients come as soon as they can.
TaskOrders orders_that_hold_least(const ScheduleShape& shape)
{
    if (shape.chunks == 1) {
        return TaskOrders(shape.stages, one_forward_one_gradient(shape.microbatches, 0));
    }
    const std::vector<Schedule> rules = splitting_schedules(shape.chunks);
    TaskOrders least = without_weights(shape, rules.front());
    for (const Schedule rule : rules) {
        TaskOrders orders = without_weights(shape, rule);
        if (peak(orders, 0.0) < peak(least, 0.0)) {
            least = std::move(orders);
        }
    }
    return least;
}

/// Returns the rank, chunk and microbatch of the first forward pass that exceeds the limit of its rank in
/// these orders. What weight gradients keep is not counted.
Facts first_beyond(const TaskOrders& orders, int most)
{
    Facts found;
    for (std::size_t rank = 0; rank < orders.size() && found.empty(); ++rank) {
        for_each_held(orders[rank], 0.0, [&](const Task& task, double held) {
            if (found.empty() && held > most) {
                found = {{FactKey::rank, rank},
                         {FactKey::chunk, task.chunk},
                         {FactKey::microbatch, task.microbatch}};
            }
        });
    }
    return found;
}

/// The same plan with its tasks in another order.
ExecutionGraph reordered(ExecutionGraph graph, const TaskOrders& orders)
{
    graph.program = std::get<std::shared_ptr<const Program>>(compile_program(graph.program->shape, orders));
    if (!graph.ahead_s.empty()) {
        graph.ahead_s = idle_before(graph);
    }
    return graph;
}

}  // namespace

int least_held(const ScheduleShape& shape)
{
    return static_cast<int>(peak(orders_that_hold_least(shape), 0.0));
}

TaskOrders greedy_orders(const ExecutionGraph& graph, const HeldLimit& limit, const GreedyFlags& flags)
{
    const ScheduleShape& shape = graph.program->shape;
    TaskOrders orders = without_weights(shape, shape.chunks == 1 ? shape.schedule : flags.rule);
    for (int stage = 0; shape.chunks == 1 && stage < shape.stages; ++stage) {
        const int wanted = static_cast<int>(flags.ahead * (shape.stages - stage - 1)) + flags.more_ahead;
        orders[stage] = one_forward_one_gradient(shape.microbatches,
                                                 std::min({wanted, limit.most - 1, shape.microbatches - 1}));
    }
    return GapFiller(graph, limit, flags.filled_gap).run(orders);
}

std::variant<ChunkOrders, Infeasible> searched_orders(const ExecutionGraph& graph, const HeldLimit& limit)
{
    const ScheduleShape& shape = graph.program->shape;
    if (!splits_backward(shape.schedule)) {
        return Infeasible{Conflict::no_orders_to_search, {{FactKey::schedule, shape.schedule}}};
    }
    if (const int least = least_held(shape); limit.most < least) {
        Facts facts = first_beyond(orders_that_hold_least(shape), limit.most);
        facts.insert(facts.end(), {{FactKey::held, limit.most},
                                   {FactKey::schedule, shape.schedule},
                                   {FactKey::pp, shape.stages},
                                   {FactKey::least, least}});
        return Infeasible{.conflict = Conflict::held_limit,
                          .facts = std::move(facts),
                          .miss = static_cast<double>(least - limit.most)};
    }
    std::shared_ptr<const Program> best;
    double shortest = never;
    const auto consider = [&](const ExecutionGraph& other) {
        const double step_s = noise_free_step(other).step_s;
        if (step_s < shortest) {
            shortest = step_s;
            best = other.program;
        }
    };
    ScheduleShape ruled = shape;
    const std::vector<Schedule> rules = splitting_schedules(shape.chunks);
    for (const Schedule rule : rules) {
        ruled.schedule = rule;
        const TaskOrders orders = std::get<TaskOrders>(task_orders(ruled));
        if (!exceeds(peak(orders, limit.for_weights), limit)) {
            consider(reordered(graph, orders));
        }
    }
    std::vector<GreedyFlags> choices;
    if (shape.chunks == 1) {
        for (const double ahead : {1.0, 1.5, 2.0, 2.5}) {
            for (const int more : {0, 1, 2}) {
                choices.push_back({ahead, more});
            }
        }
    } else {
        for (const Schedule rule : rules) {
            if (!exceeds(peak(without_weights(shape, rule), 0.0), limit)) {
                choices.push_back({1.0, 0, rule});
            }
        }
    }
    for (GreedyFlags flags : choices) {
        for (const double gap : {1e-9, 0.25, 0.5, 0.75, 1.0}) {
            flags.filled_gap = gap;
            consider(reordered(graph, greedy_orders(graph, limit, flags)));
        }
    }
    return chunk_orders(*best);
}

}  // namespace prismopt
