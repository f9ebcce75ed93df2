#include "model/schedule/given_orders.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

namespace prismopt {

namespace {

/// What tasks make: the activations of a chunk's forward, the gradient of its
/// input, the gradient of its weights.
enum class Result { activations, input_gradient, weight_gradient };
constexpr std::array results{Result::activations, Result::input_gradient, Result::weight_gradient};

bool makes(Pass pass, Result result)
{
    switch (result) {
        case Result::activations: return is_forward(pass);
        case Result::input_gradient: return gives_input_gradient(pass);
        case Result::weight_gradient: break;
    }
    return gives_weight_gradient(pass);
}

/// Where a task stands.
struct Place {
    int rank = -1;  // -1: nowhere
    std::size_t at = 0;
};

/// The task that makes each result.
struct ResultMakers {
    int network_chunks = 0;
    int microbatches = 0;
    std::vector<Place> places;  // [(result * network chunks + network chunk) * microbatches + microbatch]

    std::size_t index(Result result, int network_chunk, int microbatch) const
    {
        const std::size_t row = static_cast<std::size_t>(result) * network_chunks + network_chunk;
        return row * microbatches + microbatch;
    }
    const Place& of(Result result, int network_chunk, int microbatch) const
    {
        return places[index(result, network_chunk, microbatch)];
    }
};

ResultMakers no_makers(const ScheduleShape& shape)
{
    ResultMakers makers;
    makers.network_chunks = network_chunks(shape.schedule, shape.stages, shape.chunks);
    makers.microbatches = shape.microbatches;
    makers.places.resize(results.size() * makers.network_chunks * makers.microbatches);
    return makers;
}

const ChunkTask& task_at(const ChunkOrders& orders, const Place& place)
{
    return orders[place.rank][place.at];
}

/// A conflict of the task at a place of the orders, with more facts.
Infeasible refused_task(const ChunkOrders& orders, Conflict conflict, const Place& place,
                        std::initializer_list<Fact> more = {})
{
    Infeasible why{conflict,
                   {{FactKey::rank, place.rank}, {FactKey::task, task_name(task_at(orders, place))}}};
    why.facts.insert(why.facts.end(), more);
    return why;
}

bool holds_microbatch(const ScheduleShape& shape, int chunk, int microbatch)
{
    const MicrobatchRange range = microbatches_of(shape, chunk);
    return microbatch >= range.first && microbatch < range.first + range.count;
}

/// The stage that is to hold a task.
std::optional<int> owner_of(const ScheduleShape& shape, int network_chunk, int microbatch)
{
    for (int chunk = 0; chunk < shape.chunks; ++chunk) {
        if (!holds_microbatch(shape, chunk, microbatch)) {
            continue;
        }
        for (int stage = 0; stage < shape.stages; ++stage) {
            if (network_chunk_of(shape, {stage, chunk}) == network_chunk) {
                return stage;
            }
        }
    }
    return std::nullopt;
}

/// The chunk of a stage that a task belongs to.
std::optional<int> chunk_on_stage(const ScheduleShape& shape, int stage, const ChunkTask& task)
{
    for (int chunk = 0; chunk < shape.chunks; ++chunk) {
        if (network_chunk_of(shape, {stage, chunk}) == task.network_chunk &&
            holds_microbatch(shape, chunk, task.microbatch)) {
            return chunk;
        }
    }
    return std::nullopt;
}

/// The task as the stage names it, which holds it.
Task task_on_stage(const ScheduleShape& shape, int stage, const ChunkTask& task)
{
    const int chunk = *chunk_on_stage(shape, stage, task);
    return {task.pass, static_cast<std::uint16_t>(chunk), static_cast<std::uint16_t>(task.microbatch)};
}

/// Why the orders of a rank cannot have this task there. `before`: what the rank runs before it.
std::optional<Infeasible> check_task(const ScheduleShape& shape, const ChunkOrders& orders, const Place& here,
                                     std::span<const Task> before)
{
    const ChunkTask& task = task_at(orders, here);
    const int chunk_count = network_chunks(shape.schedule, shape.stages, shape.chunks);
    const Fact schedule(FactKey::schedule, shape.schedule);
    const Fact stages(FactKey::pp, shape.stages);
    const Fact chunks(FactKey::chunks, shape.chunks);
    if (task.network_chunk < 0 || task.network_chunk >= chunk_count) {
        return refused_task(orders, Conflict::task_of_no_stage, here,
                            {{FactKey::stage, task.network_chunk},
                             schedule,
                             stages,
                             chunks,
                             {FactKey::network_chunks, chunk_count}});
    }
    if (task.microbatch < 0 || task.microbatch >= shape.microbatches) {
        return refused_task(orders, Conflict::task_of_no_microbatch, here,
                            {{FactKey::microbatch, task.microbatch},
                             {FactKey::microbatches, shape.microbatches}});
    }
    const std::optional<int> chunk = chunk_on_stage(shape, here.rank, task);
    if (!chunk) {
        const int owner = *owner_of(shape, task.network_chunk, task.microbatch);
        return refused_task(orders, Conflict::task_of_other_rank, here,
                            {{FactKey::owner, owner}, schedule, stages, chunks});
    }
    if (task.pass == Pass::paired_backward &&
        (shape.chunks != 2 || before.empty() || before.back().pass != Pass::paired_forward ||
         before.back().chunk == *chunk)) {
        return refused_task(orders, Conflict::pair_of_one_chunk, here);
    }
    const std::vector<ChunkTask>& row = orders[here.rank];
    if (task.pass == Pass::paired_forward &&
        (here.at + 1 == row.size() || row[here.at + 1].pass != Pass::paired_backward)) {
        return refused_task(orders, Conflict::pair_without_backward, here);
    }
    return std::nullopt;
}

/// Notes a task as the maker of its results; returns why it cannot be.
std::optional<Infeasible> note_maker(const ChunkOrders& orders, const Place& here, ResultMakers& makers)
{
    const ChunkTask& task = task_at(orders, here);
    for (const Result result : results) {
        if (!makes(task.pass, result)) {
            continue;
        }
        Place& maker = makers.places[makers.index(result, task.network_chunk, task.microbatch)];
        if (maker.rank >= 0) {
            const ChunkTask& other = task_at(orders, maker);
            return other.pass == task.pass ? refused_task(orders, Conflict::task_twice, here)
                                           : refused_task(orders, Conflict::task_repeats, here,
                                                          {{FactKey::repeated, task_name(other)}});
        }
        maker = here;
    }
    return std::nullopt;
}

/// A result that no task makes.
std::optional<Infeasible> missing_task(const ScheduleShape& shape, const ResultMakers& makers)
{
    constexpr std::array passes{Pass::forward, Pass::input_gradient, Pass::weight_gradient};
    for (const Result result : results) {
        for (int network_chunk = 0; network_chunk < makers.network_chunks; ++network_chunk) {
            for (int microbatch = 0; microbatch < makers.microbatches; ++microbatch) {
                if (makers.of(result, network_chunk, microbatch).rank < 0) {
                    const ChunkTask task{passes[static_cast<std::size_t>(result)], network_chunk, microbatch};
                    const int rank = *owner_of(shape, network_chunk, microbatch);
                    return Infeasible{result == Result::activations ? Conflict::forward_missing
                                                                    : Conflict::gradient_missing,
                                      {{FactKey::rank, rank},
                                       {FactKey::task, task_name(task)},
                                       {FactKey::microbatches, shape.microbatches}}};
                }
            }
        }
    }
    return std::nullopt;
}

/// The tasks whose results a task needs.
std::vector<Place> inputs_of(const ChunkTask& task, const ResultMakers& makers)
{
    const auto [pass, network_chunk, microbatch] = task;
    if (is_forward(pass)) {
        return network_chunk > 0 ? std::vector{makers.of(Result::activations, network_chunk - 1, microbatch)}
                                 : std::vector<Place>{};
    }
    if (pass == Pass::weight_gradient) {
        return {makers.of(Result::input_gradient, network_chunk, microbatch)};
    }
    std::vector<Place> needs{makers.of(Result::activations, network_chunk, microbatch)};
    if (network_chunk + 1 < makers.network_chunks) {
        needs.push_back(makers.of(Result::input_gradient, network_chunk + 1, microbatch));
    }
    return needs;
}

/// Runs the orders; where they stand still, the circle of ranks that wait for each other.
std::optional<Infeasible> waiting_circle(const ChunkOrders& orders, const ResultMakers& makers)
{
    std::vector<std::size_t> next(orders.size(), 0);
    const auto waits_for = [&](std::size_t rank) -> std::optional<Place> {
        for (const Place& need : inputs_of(orders[rank][next[rank]], makers)) {
            // The forward of a pair ends with it.
            const bool pair = task_at(orders, need).pass == Pass::paired_forward;
            if (next[need.rank] <= need.at + (pair ? 1 : 0)) {
                return need;
            }
        }
        return std::nullopt;
    };
    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t rank = 0; rank < orders.size(); ++rank) {
            while (next[rank] < orders[rank].size() && !waits_for(rank)) {
                ++next[rank];
                moved = true;
            }
        }
    }
    std::size_t rank = 0;
    while (rank < orders.size() && next[rank] == orders[rank].size()) {
        ++rank;
    }
    if (rank == orders.size()) {
        return std::nullopt;
    }
    std::vector<bool> seen(orders.size(), false);
    while (!seen[rank]) {  // from any that stands still into the circle
        seen[rank] = true;
        rank = waits_for(rank)->rank;
    }
    // per rank of it: what it waits for and what comes before that
    Infeasible cycle{Conflict::tasks_in_cycle};
    const std::size_t first = rank;
    do {
        const Place need = *waits_for(rank);
        const std::string waiting = task_name(orders[rank][next[rank]]);
        cycle.facts.insert(cycle.facts.end(), {{FactKey::rank, rank},
                                               {FactKey::task, waiting},
                                               {FactKey::waits_for_rank, need.rank},
                                               {FactKey::waits_for, task_name(task_at(orders, need))}});
        if (need.at != next[need.rank]) {
            cycle.facts.emplace_back(FactKey::after, task_name(orders[need.rank][next[need.rank]]));
        }
        rank = need.rank;
    } while (rank != first);
    return cycle;
}

}  // namespace

std::string task_name(const ChunkTask& task)
{
    constexpr std::array letters{"F", "B", "I", "W", "F", "B"};
    return std::to_string(task.network_chunk) + letters[static_cast<std::size_t>(task.pass)] +
           std::to_string(task.microbatch);
}

ChunkOrders chunk_orders(const Program& program)
{
    ChunkOrders orders(program.shape.stages);
    for (const ProgramOp& op : program.ops) {
        orders[op.stage].push_back(
            {op.pass, network_chunk_of(program.shape, {op.stage, op.chunk}), op.microbatch});
    }
    return orders;
}

std::variant<TaskOrders, Infeasible> orders_on_stages(const ScheduleShape& shape, const ChunkOrders& orders)
{
    if (auto refusal = undefined(shape)) {
        return *refusal;
    }
    if (orders.size() != static_cast<std::size_t>(shape.stages)) {
        return Infeasible{Conflict::ranks_and_stages,
                          {{FactKey::ranks, orders.size()}, {FactKey::pp, shape.stages}}};
    }
    ResultMakers makers = no_makers(shape);
    TaskOrders on_stages(orders.size());
    for (int rank = 0; rank < shape.stages; ++rank) {
        on_stages[rank].reserve(orders[rank].size());
        for (std::size_t at = 0; at < orders[rank].size(); ++at) {
            const Place here{rank, at};
            if (auto why = check_task(shape, orders, here, on_stages[rank])) {
                return *std::move(why);
            }
            if (auto why = note_maker(orders, here, makers)) {
                return *std::move(why);
            }
            on_stages[rank].push_back(task_on_stage(shape, rank, orders[rank][at]));
        }
    }
    if (auto why = missing_task(shape, makers)) {
        return *std::move(why);
    }
    if (auto why = waiting_circle(orders, makers)) {
        return *std::move(why);
    }
    return on_stages;
}

}  // namespace prismopt
