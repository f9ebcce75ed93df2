#include "model/step/program.hpp"

#include <algorithm>
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
        const auto seats = static_cast<std::size_t>(shape.stages) * shape.chunks;
        waiting_.assign(2 * seats * shape.microbatches, absent);
        forwards_.assign(seats, 0);
        weights_.assign(seats, 0);
        forward_of_pair_.resize(shape.stages);
        for (int chunk = 0; chunk < shape.chunks; ++chunk) {
            for (int stage = 0; stage < shape.stages; ++stage) {
                const auto at = [&](int step) {
                    const auto seat = neighbour(shape, {stage, chunk}, step);
                    return seat ? seat_of(seat->stage, seat->chunk) : nowhere;
                };
                before_.push_back(at(-1));
                after_.push_back(at(1));
            }
        }
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
                program->passes = std::max(program->passes, static_cast<int>(program->ops.back().pass) + 1);
                ++next[stage];
                --left;
            }
        } while (!able.empty());
        if (left > 0) {
            return Infeasible{"schedule deadlocks", std::to_string(left) + " tasks wait for each other", 0.0};
        }
        for (ProgramOp& op : program->ops) {
            op.law = op.part * static_cast<std::uint32_t>(program->passes) + static_cast<std::uint32_t>(op.pass);
        }
        program->slots = slots_.count();
        program->last = last_;
        return std::shared_ptr<const Program>(std::move(program));
    }

private:
    static constexpr std::int32_t absent = -1;  // not computed yet
    static constexpr int nowhere = -1;

    int seat_of(int stage, int chunk) const { return chunk * shape_.stages + stage; }

    /// Of the forward or of the gradient of its input.
    std::int32_t& slot_of(bool forward, int seat, int microbatch)
    {
        const int seats = shape_.stages * shape_.chunks;
        return waiting_[(static_cast<std::size_t>(forward ? 0 : seats) + seat) * shape_.microbatches + microbatch];
    }

    /// The op on the neighbouring chunk whose end this one needs; nullptr at the ends of the network and for weight gradients.
    std::int32_t* feeder(int stage, const Task& t)
    {
        if (t.pass == Pass::weight_gradient) {
            return nullptr;
        }
        const bool forward = is_forward(t.pass);
        const int from = (forward ? before_ : after_)[seat_of(stage, t.chunk)];
        return from == nowhere ? nullptr : &slot_of(forward, from, t.microbatch);
    }

    bool ready(int stage, const Task& t)
    {
        const int seat = seat_of(stage, t.chunk);
        if (!is_forward(t.pass) && slot_of(t.pass != Pass::weight_gradient, seat, t.microbatch) == absent) {
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
        const int seat = seat_of(stage, t.chunk);
        op.part = static_cast<std::uint32_t>(stage * shape_.chunks + t.chunk);
        op.first_of_chunk = is_forward(t.pass) && forwards_[seat]++ == 0;
        op.last_of_chunk = gives_weight_gradient(t.pass) && ++weights_[seat] == microbatches_of(shape_, t.chunk).count;
        if (const std::int32_t* from = feeder(stage, t)) {
            op.in = *from;
            slots_.read(op.in);
        }
        op.before = last_[stage];
        slots_.read(op.before);
        hand_on(stage, t, op);
        last_[stage] = op.out;
        return op;
    }

    /// What the stage does next reads an op's end, or the step's end does; and so do neighbours. Both ends of a pair are its backward's
    /// end.
    void hand_on(int stage, const Task& t, ProgramOp& op)
    {
        if (t.pass == Pass::paired_forward) {
            forward_of_pair_[stage] = t;
        }
        if (t.pass == Pass::paired_forward || t.pass == Pass::weight_gradient) {
            op.out = slots_.take(1);
            return;
        }
        const auto neighbours = [&](const Task& task) {
            return (is_forward(task.pass) ? after_ : before_)[seat_of(stage, task.chunk)] != nowhere ? 1 : 0;
        };
        const bool paired = t.pass == Pass::paired_backward;
        const Task& forward = forward_of_pair_[stage];
        op.out = slots_.take(1 + neighbours(t) + (paired ? neighbours(forward) : 0));
        slot_of(is_forward(t.pass), seat_of(stage, t.chunk), t.microbatch) = op.out;
        if (paired) {
            slot_of(true, seat_of(stage, forward.chunk), forward.microbatch) = op.out;
        }
    }

    const ScheduleShape& shape_;
    const TaskOrders& orders_;
    std::vector<int> before_;            // [seat]: of the part before, or `nowhere`
    std::vector<int> after_;             // [seat]
    std::vector<std::int32_t> waiting_;  // [(gradient * seats + seat) * m + microbatch]: slot or `absent`
    std::vector<int> forwards_;          // [seat]: emitted
    std::vector<int> weights_;           // [seat]: ops emitted that give weight gradients
    std::vector<Task> forward_of_pair_;  // [stage]: the last one
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
    if (const auto* compiled = std::get_if<std::shared_ptr<const Program>>(&program)) {
        cached_ops += (*compiled)->ops.size();
    }
    if (cached_ops > most_ops) {
        cache.clear();
        cached_ops = 0;
    }
    cache.emplace(shape, program);
    return program;
}

}  // namespace prismopt
