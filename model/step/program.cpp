#include "model/step/program.hpp"

#include <map>

namespace prismopt {

namespace {

/// Ends of ops that other ops have still to read; freed slots are used again, the last freed first.
class Slots {
public:
    /// For an end that is read so often.
    std::int32_t take(int readers)
    {
        if (free_.empty()) {
            readers_.push_back(readers);
            return count() - 1;
        }
        const std::int32_t slot = free_.back();
        free_.pop_back();
        readers_[slot] = readers;
        return slot;
    }
    void read(std::int32_t slot)
    {
        if (slot != Program::start && --readers_[slot] == 0) {
            free_.push_back(slot);
        }
    }
    std::int32_t count() const { return static_cast<std::int32_t>(readers_.size()); }

private:
    std::vector<std::int32_t> free_;
    std::vector<int> readers_{0};  // [slot]: still to come; the start is read for ever
};

class Compiler {
public:
    Compiler(const ScheduleShape& shape, const TaskOrders& orders) : shape_(shape), orders_(orders)
    {
        waiting_.assign(2 * static_cast<std::size_t>(network_chunks()) * shape.microbatches, absent);
        seen_.assign(2 * static_cast<std::size_t>(network_chunks()), 0);
        last_.assign(shape.stages, Program::start);
    }

    CompiledProgram run()
    {
        auto program = std::make_shared<Program>();
        program->shape = shape_;
        std::vector<std::size_t> next(orders_.size(), 0);
        std::size_t left = 0;
        for (const auto& order : orders_) {
            left += order.size();
        }
        program->ops.reserve(left);
        // Rounds over the stages, each taking the ops whose inputs were there before the round: near to the order in time, so
        // slots stay few; and neighbours in the program do not wait for each other, so a processor overlaps them.
        std::vector<int> able;
        do {
            able.clear();
            for (int stage = 0; stage < shape_.stages; ++stage) {
                if (next[stage] < orders_[stage].size() && ready(stage, orders_[stage][next[stage]])) {
                    able.push_back(stage);
                }
            }
            for (const int stage : able) {
                program->ops.push_back(emit(stage, orders_[stage][next[stage]]));
                ++next[stage];
                --left;
            }
        } while (!able.empty());
        if (left > 0) {
            return Infeasible{"schedule deadlocks", std::to_string(left) + " tasks wait for each other", 0.0};
        }
        program->slots = slots_.count();
        program->last = last_;
        return std::shared_ptr<const Program>(std::move(program));
    }

private:
    static constexpr std::int32_t absent = -1;  // not computed yet

    int network_chunks() const { return shape_.stages * shape_.chunks; }
    int position(int stage, const Task& t) const { return t.chunk * shape_.stages + stage; }  // of the chunk in the network

    std::int32_t& slot_of(Pass pass, int position, int microbatch)
    {
        const int passes = pass == Pass::forward ? 0 : 1;
        return waiting_[(static_cast<std::size_t>(passes) * network_chunks() + position) * shape_.microbatches + microbatch];
    }

    /// The op on the neighbouring chunk whose end this one needs; nullptr at the ends of the network.
    std::int32_t* feeder(int stage, const Task& t)
    {
        const int neighbour = position(stage, t) + (t.pass == Pass::forward ? -1 : 1);
        return neighbour < 0 || neighbour >= network_chunks() ? nullptr : &slot_of(t.pass, neighbour, t.microbatch);
    }

    bool ready(int stage, const Task& t)
    {
        if (t.pass == Pass::backward && slot_of(Pass::forward, position(stage, t), t.microbatch) == absent) {
            return false;
        }
        const std::int32_t* from = feeder(stage, t);
        return from == nullptr || *from != absent;
    }

    ProgramOp emit(int stage, const Task& t)
    {
        ProgramOp op;
        op.stage = static_cast<std::uint16_t>(stage);
        op.chunk = t.chunk;
        op.microbatch = t.microbatch;
        op.pass = t.pass;
        op.law = 2U * static_cast<std::uint32_t>(stage * shape_.chunks + t.chunk) + (t.pass == Pass::forward ? 0U : 1U);
        const int at = position(stage, t);
        int& seen = seen_[2 * at + (t.pass == Pass::forward ? 0 : 1)];
        op.first_of_chunk = t.pass == Pass::forward && seen == 0;
        ++seen;
        op.last_of_chunk = t.pass == Pass::backward && seen == shape_.microbatches;
        if (const std::int32_t* from = feeder(stage, t)) {
            op.in = *from;
            slots_.read(op.in);
        }
        op.before = last_[stage];
        slots_.read(op.before);
        const bool last_in_network = t.pass == Pass::forward ? at == network_chunks() - 1 : at == 0;
        op.out = slots_.take(last_in_network ? 1 : 2);  // by what the stage does next, or by the step's end; and by the neighbour
        slot_of(t.pass, at, t.microbatch) = op.out;
        last_[stage] = op.out;
        return op;
    }

    const ScheduleShape& shape_;
    const TaskOrders& orders_;
    std::vector<std::int32_t> waiting_;  // [(pass * chunks + position) * m + microbatch]: slot or `absent`
    std::vector<int> seen_;              // [2 * position + pass]: ops emitted
    std::vector<std::int32_t> last_;     // [stage]: slot of the latest op's end
    Slots slots_;
};

}  // namespace

CompiledProgram compile_program(const ScheduleShape& shape, const TaskOrders& orders) { return Compiler(shape, orders).run(); }

CompiledProgram compiled_program(const ScheduleShape& shape)
{
    thread_local std::map<ScheduleShape, CompiledProgram> cache;
    constexpr std::size_t most_ops = 1U << 24;  // 24 bytes each: bounds the cache at about 400 MB
    thread_local std::size_t cached_ops = 0;
    if (const auto found = cache.find(shape); found != cache.end()) {
        return found->second;
    }
    auto orders = task_orders(shape);
    const auto* refusal = std::get_if<Infeasible>(&orders);
    CompiledProgram program = refusal != nullptr ? *refusal : compile_program(shape, std::get<TaskOrders>(orders));
    cached_ops += 2UL * static_cast<std::size_t>(shape.stages) * shape.microbatches * shape.chunks;
    if (cached_ops > most_ops) {
        cache.clear();
        cached_ops = 0;
    }
    cache.emplace(shape, program);
    return program;
}

}  // namespace prismopt
