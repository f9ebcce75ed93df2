#include "model/schedule/given_orders.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace prismopt {

namespace {

/// What tasks make: the activations of a part's forward, the gradient of its
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

class Checker {
public:
    Checker(const ScheduleShape& shape, const ChunkOrders& orders)
        : shape_(shape), orders_(orders),
          chunk_count_(network_chunks(shape.schedule, shape.stages, shape.chunks)),
          made_(results.size() * chunk_count_ * shape.microbatches)
    {
    }

    std::variant<TaskOrders, Infeasible> run()
    {
        if (orders_.size() != static_cast<std::size_t>(shape_.stages)) {
            return Infeasible{Conflict::ranks_and_stages,
                              {{FactKey::ranks, orders_.size()}, {FactKey::pp, shape_.stages}}};
        }
        TaskOrders on_stages(orders_.size());
        for (std::size_t rank = 0; rank < orders_.size(); ++rank) {
            on_stages[rank].reserve(orders_[rank].size());
            for (std::size_t at = 0; at < orders_[rank].size(); ++at) {
                if (auto why = add_task(rank, at, on_stages[rank])) {
                    return *std::move(why);
                }
            }
        }
        if (auto why = missing()) {
            return *std::move(why);
        }
        if (auto why = circle()) {
            return *std::move(why);
        }
        return on_stages;
    }

private:
    Place& maker(Result result, int network_chunk, int microbatch)
    {
        return made_[(static_cast<std::size_t>(result) * chunk_count_ + network_chunk) * shape_.microbatches +
                     microbatch];
    }

    /// A conflict of the task at a place of the orders, with more facts.
    Infeasible refused(Conflict conflict, const Place& place, std::initializer_list<Fact> more = {}) const
    {
        Infeasible why{conflict, {{FactKey::rank, place.rank}, {FactKey::task, task_at(place)}}};
        why.facts.insert(why.facts.end(), more);
        return why;
    }

    std::string task_at(const Place& place) const { return task_name(orders_[place.rank][place.at]); }

    /// The position of a task, by the stage that is to hold it.
    std::optional<StageChunk> position_of(int network_chunk, int microbatch) const
    {
        for (int chunk = 0; chunk < shape_.chunks; ++chunk) {
            const MicrobatchRange range = microbatches_of(shape_, chunk);
            if (microbatch < range.first || microbatch >= range.first + range.count) {
                continue;
            }
            for (int stage = 0; stage < shape_.stages; ++stage) {
                if (network_chunk_of(shape_, {stage, chunk}) == network_chunk) {
                    return StageChunk{stage, chunk};
                }
            }
        }
        return std::nullopt;
    }

    /// Notes a task; returns why it cannot be there.
    std::optional<Infeasible> add_task(std::size_t rank, std::size_t at, std::vector<Task>& order)
    {
        const ChunkTask& task = orders_[rank][at];
        const Place here{static_cast<int>(rank), at};
        const Fact schedule(FactKey::schedule, shape_.schedule);
        const Fact stages(FactKey::pp, shape_.stages);
        const Fact chunks(FactKey::chunks, shape_.chunks);
        if (task.network_chunk < 0 || task.network_chunk >= chunk_count_) {
            return refused(Conflict::task_of_no_stage, here,
                           {{FactKey::stage, task.network_chunk},
                            schedule,
                            stages,
                            chunks,
                            {FactKey::network_chunks, chunk_count_}});
        }
        if (task.microbatch < 0 || task.microbatch >= shape_.microbatches) {
            return refused(Conflict::task_of_no_microbatch, here,
                           {{FactKey::microbatch, task.microbatch},
                            {FactKey::microbatches, shape_.microbatches}});
        }
        int chunk = 0;
        const auto held = [&] {
            const MicrobatchRange range = microbatches_of(shape_, chunk);
            return network_chunk_of(shape_, {static_cast<int>(rank), chunk}) == task.network_chunk &&
                   task.microbatch >= range.first && task.microbatch < range.first + range.count;
        };
        while (chunk < shape_.chunks && !held()) {
            ++chunk;
        }
        if (chunk == shape_.chunks) {
            const int owner = position_of(task.network_chunk, task.microbatch)->stage;
            return refused(Conflict::task_of_other_rank, here,
                           {{FactKey::owner, owner}, schedule, stages, chunks});
        }
        if (task.pass == Pass::paired_backward &&
            (shape_.chunks != 2 || order.empty() || order.back().pass != Pass::paired_forward ||
             order.back().chunk == chunk)) {
            return refused(Conflict::pair_of_one_chunk, here);
        }
        const std::vector<ChunkTask>& row = orders_[rank];
        if (task.pass == Pass::paired_forward &&
            (at + 1 == row.size() || row[at + 1].pass != Pass::paired_backward)) {
            return refused(Conflict::pair_without_backward, here);
        }
        for (const Result result : results) {
            if (!makes(task.pass, result)) {
                continue;
            }
            Place& place = maker(result, task.network_chunk, task.microbatch);
            if (place.rank >= 0) {
                return orders_[place.rank][place.at].pass == task.pass
                           ? refused(Conflict::task_twice, here)
                           : refused(Conflict::task_repeats, here, {{FactKey::repeated, task_at(place)}});
            }
            place = here;
        }
        order.push_back(
            {task.pass, static_cast<std::uint16_t>(chunk), static_cast<std::uint16_t>(task.microbatch)});
        return std::nullopt;
    }

    std::optional<Infeasible> missing()
    {
        constexpr std::array passes{Pass::forward, Pass::input_gradient, Pass::weight_gradient};
        for (const Result result : results) {
            for (int network_chunk = 0; network_chunk < chunk_count_; ++network_chunk) {
                for (int microbatch = 0; microbatch < shape_.microbatches; ++microbatch) {
                    if (maker(result, network_chunk, microbatch).rank < 0) {
                        const ChunkTask task{passes[static_cast<std::size_t>(result)], network_chunk,
                                             microbatch};
                        const int rank = position_of(network_chunk, microbatch)->stage;
                        return Infeasible{result == Result::activations ? Conflict::forward_missing
                                                                        : Conflict::gradient_missing,
                                          {{FactKey::rank, rank},
                                           {FactKey::task, task_name(task)},
                                           {FactKey::microbatches, shape_.microbatches}}};
                    }
                }
            }
        }
        return std::nullopt;
    }

    /// The tasks whose results a task needs.
    std::vector<Place> inputs(const ChunkTask& task)
    {
        const auto [pass, network_chunk, microbatch] = task;
        if (is_forward(pass)) {
            return network_chunk > 0 ? std::vector{maker(Result::activations, network_chunk - 1, microbatch)}
                                     : std::vector<Place>{};
        }
        if (pass == Pass::weight_gradient) {
            return {maker(Result::input_gradient, network_chunk, microbatch)};
        }
        std::vector<Place> needs{maker(Result::activations, network_chunk, microbatch)};
        if (network_chunk + 1 < chunk_count_) {
            needs.push_back(maker(Result::input_gradient, network_chunk + 1, microbatch));
        }
        return needs;
    }

    /// Runs the orders; where they stand still, the circle of ranks that wait for each other.
    std::optional<Infeasible> circle()
    {
        std::vector<std::size_t> next(orders_.size(), 0);
        const auto waits_for = [&](std::size_t rank) -> std::optional<Place> {
            for (const Place& need : inputs(orders_[rank][next[rank]])) {
                // The forward of a pair ends with it.
                const bool pair = orders_[need.rank][need.at].pass == Pass::paired_forward;
                if (next[need.rank] <= need.at + (pair ? 1 : 0)) {
                    return need;
                }
            }
            return std::nullopt;
        };
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t rank = 0; rank < orders_.size(); ++rank) {
                while (next[rank] < orders_[rank].size() && !waits_for(rank)) {
                    ++next[rank];
                    moved = true;
                }
            }
        }
        std::size_t rank = 0;
        while (rank < orders_.size() && next[rank] == orders_[rank].size()) {
            ++rank;
        }
        if (rank == orders_.size()) {
            return std::nullopt;
        }
        std::vector<bool> seen(orders_.size(), false);
        while (!seen[rank]) {  // from any that stands still into the circle
            seen[rank] = true;
            rank = waits_for(rank)->rank;
        }
        Infeasible cycle{
            Conflict::tasks_in_cycle};  // per rank of it: what it waits for and what comes before that
        const std::size_t first = rank;
        do {
            const Place need = *waits_for(rank);
            const std::string waiting = task_name(orders_[rank][next[rank]]);
            cycle.facts.insert(cycle.facts.end(), {{FactKey::rank, rank},
                                                   {FactKey::task, waiting},
                                                   {FactKey::waits_for_rank, need.rank},
                                                   {FactKey::waits_for, task_at(need)}});
            if (need.at != next[need.rank]) {
                cycle.facts.emplace_back(FactKey::after, task_name(orders_[need.rank][next[need.rank]]));
            }
            rank = need.rank;
        } while (rank != first);
        return cycle;
    }

    const ScheduleShape& shape_;
    const ChunkOrders& orders_;
    int chunk_count_;
    std::vector<Place> made_;  // [(result * parts + part) * m + microbatch]
};

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
    return Checker(shape, orders).run();
}

}  // namespace prismopt
