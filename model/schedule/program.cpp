#include "model/schedule/program.hpp"

#include "model/schedule/repeats.hpp"

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

/// [stage]: the largest of what it holds in the course of its ops.
std::vector<std::vector<HeldPasses>> most_held(const Program& program)
{
    std::vector<HeldPasses> now(program.shape.stages);
    std::vector<std::vector<HeldPasses>> most(program.shape.stages);
    for (const ProgramOp& op : program.ops) {
        HeldPasses& here = now[op.stage];
        if (is_forward(op.pass)) {
            ++here.saved;
        } else if (op.pass == Pass::input_gradient) {
            --here.saved;
            ++here.held;
        } else {
            --(op.pass == Pass::weight_gradient ? here.held : here.saved);
        }
        const auto below = [](const HeldPasses& a, const HeldPasses& b) { return a.saved <= b.saved && a.held <= b.held; };
        std::vector<HeldPasses>& list = most[op.stage];
        if (std::none_of(list.begin(), list.end(), [&](const HeldPasses& other) { return below(here, other); })) {
            std::erase_if(list, [&](const HeldPasses& other) { return below(other, here); });
            list.push_back(here);
        }
    }
    return most;
}

class Compiler {
public:
    Compiler(const ScheduleShape& shape, const TaskOrders& orders) : shape_(shape), orders_(orders)
    {
        positions_ = shape.stages * shape.chunks;
        waiting_.assign(static_cast<std::size_t>(2) * positions_ * shape.microbatches, absent);
        forwards_.assign(positions_, 0);
        weights_.assign(positions_, 0);
        forward_of_pair_.resize(shape.stages);
        for (int chunk = 0; chunk < shape.chunks; ++chunk) {
            microbatches_.push_back(microbatches_of(shape, chunk).count);
            for (int stage = 0; stage < shape.stages; ++stage) {
                const auto at = [&](int step) {
                    const auto position = neighbour(shape, {stage, chunk}, step);
                    return position ? position_of(position->stage, position->chunk) : nowhere;
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
        std::vector<Stage> stages;
        std::size_t left = 0;
        for (const auto& order : orders_) {
            stages.push_back({order.data(), order.data() + order.size()});
            left += order.size();
            for (const Task& task : order) {
                program->passes = std::max(program->passes, static_cast<int>(task.pass) + 1);
            }
        }
        passes_ = static_cast<std::uint32_t>(program->passes);
        program->ops.reserve(left);
        program->fed_by.reserve(left);
        // Rounds over the stages, each taking the ops whose inputs were there before the round: near to the order in time, so
        // slots stay few; and neighbours in the program do not wait for each other, so a processor overlaps them.
        std::vector<Able> able(stages.size());
        std::size_t count = 0;
        do {
            count = 0;
            for (int stage = 0; stage < shape_.stages; ++stage) {
                const Stage& at = stages[stage];
                able[count].stage = stage;
                count += at.next != at.end && ready(*at.next, able[count]) ? 1 : 0;
            }
            for (std::size_t i = 0; i < count; ++i) {
                emit(able[i], *stages[able[i].stage].next++, program->ops.emplace_back());
                program->fed_by.push_back(fed_by(program->ops.back()));
            }
            left -= count;
        } while (count > 0);
        if (left > 0) {
            return Infeasible{Reason::deadlock, std::to_string(left) + " tasks wait for each other", 0.0};
        }
        program->longest_wait = *std::max_element(program->fed_by.begin(), program->fed_by.end());
        program->repeats = find_repeats(program->ops, program->fed_by, shape_.stages);
        program->op_count.assign(static_cast<std::size_t>(positions_) * passes_, 0);
        for (const ProgramOp& op : program->ops) {
            ++program->op_count[op.distribution];
        }
        program->slots = slots_.count();
        program->last = last_;
        program->most_held = most_held(*program);
        return std::shared_ptr<const Program>(std::move(program));
    }

private:
    static constexpr std::int32_t absent = -1;  // not computed yet
    static constexpr int nowhere = -1;

    /// What a stage has still to do.
    struct Stage {
        const Task* next;
        const Task* end;
    };
    /// A stage's next task that can run.
    struct Able {
        int stage = 0;
        int position = 0;
        std::int32_t in = Program::start;  // slot of its input
    };

    int position_of(int stage, int chunk) const { return chunk * shape_.stages + stage; }

    /// Of the forward or of the gradient of its input.
    std::int32_t& slot_of(bool forward, int position, int microbatch)
    {
        return waiting_[(static_cast<std::size_t>(forward ? 0 : positions_) + position) * shape_.microbatches + microbatch];
    }

    /// Whether what the task needs on its own chunk, and from the neighbouring one, is there: none from beyond the ends of the
    /// network, and none for weight gradients.
    bool ready(const Task& t, Able& able)
    {
        const bool forward = is_forward(t.pass);
        const bool weights = t.pass == Pass::weight_gradient;
        able.position = position_of(able.stage, t.chunk);
        able.in = Program::start;
        if (!forward && slot_of(!weights, able.position, t.microbatch) == absent) {
            return false;
        }
        const int from = (forward ? before_ : after_)[able.position];
        if (!weights && from != nowhere) {
            able.in = slot_of(forward, from, t.microbatch);
        }
        return able.in != absent;
    }

    void emit(const Able& able, const Task& t, ProgramOp& op)
    {
        op.stage = static_cast<std::uint16_t>(able.stage);
        op.chunk = t.chunk;
        op.microbatch = t.microbatch;
        op.pass = t.pass;
        op.part = static_cast<std::uint32_t>(able.stage * shape_.chunks + t.chunk);
        op.distribution = op.part * passes_ + static_cast<std::uint32_t>(op.pass);
        op.first_of_chunk = is_forward(t.pass) && forwards_[able.position]++ == 0;
        op.last_of_chunk = gives_weight_gradient(t.pass) && ++weights_[able.position] == microbatches_[t.chunk];
        op.in = able.in;
        slots_.read(op.in);
        op.before = last_[able.stage];
        slots_.read(op.before);
        hand_on(able, t, op);
        last_[able.stage] = op.out;
    }

    /// Of the op emitted last.
    std::uint32_t fed_by(const ProgramOp& op)
    {
        const std::uint32_t distance = op.in == Program::start ? 0 : emitted_ - writer_[op.in];
        writer_.resize(std::max(writer_.size(), static_cast<std::size_t>(op.out) + 1));
        writer_[op.out] = emitted_++;
        return distance;
    }

    /// What the stage does next reads an op's end, or the step's end does; and so do neighbours. Both ends of a pair are its
    /// backward's end.
    void hand_on(const Able& able, const Task& t, ProgramOp& op)
    {
        if (t.pass == Pass::paired_forward) {
            forward_of_pair_[able.stage] = t;
        }
        if (t.pass == Pass::paired_forward || t.pass == Pass::weight_gradient) {
            op.out = slots_.take(1);
            return;
        }
        const auto readers = [&](bool forward, int position) {
            return (forward ? after_ : before_)[position] != nowhere ? 1 : 0;
        };
        const bool forward = is_forward(t.pass);
        if (t.pass != Pass::paired_backward) {
            op.out = slots_.take(1 + readers(forward, able.position));
            slot_of(forward, able.position, t.microbatch) = op.out;
            return;
        }
        const Task& beside = forward_of_pair_[able.stage];
        const int position = position_of(able.stage, beside.chunk);
        op.out = slots_.take(1 + readers(false, able.position) + readers(true, position));
        slot_of(false, able.position, t.microbatch) = op.out;
        slot_of(true, position, beside.microbatch) = op.out;
    }

    const ScheduleShape& shape_;
    const TaskOrders& orders_;
    int positions_ = 0;
    std::uint32_t passes_ = 0;
    std::vector<int> microbatches_;      // [chunk]
    std::vector<int> before_;            // [position]: of the part before, or `nowhere`
    std::vector<int> after_;             // [position]
    std::vector<std::int32_t> waiting_;  // [(gradient * positions + position) * m + microbatch]: slot or `absent`
    std::vector<int> forwards_;          // [position]: emitted
    std::vector<int> weights_;           // [position]: ops emitted that give weight gradients
    std::vector<Task> forward_of_pair_;  // [stage]: the last one
    std::vector<std::int32_t> last_;     // [stage]: slot of the latest op's end
    Slots slots_;
    std::vector<std::uint32_t> writer_;  // [slot]: the last op that wrote it
    std::uint32_t emitted_ = 0;          // ops
};

}  // namespace

CompiledProgram compile_program(const ScheduleShape& shape, const TaskOrders& orders) { return Compiler(shape, orders).run(); }

CompiledProgram compiled_program(const ScheduleShape& shape)
{
    thread_local std::map<ScheduleShape, CompiledProgram> cache;
    constexpr std::size_t most_ops = 1U << 22;  // 36 bytes each: bounds the cache at about 150 MB, or at one program
    thread_local std::size_t cached_ops = 0;
    if (const auto found = cache.find(shape); found != cache.end()) {
        return found->second;
    }
    auto orders = task_orders(shape);
    const auto* refusal = std::get_if<Infeasible>(&orders);
    CompiledProgram program = refusal != nullptr ? *refusal : compile_program(shape, std::get<TaskOrders>(orders));
    const auto* compiled = std::get_if<std::shared_ptr<const Program>>(&program);
    const std::size_t ops = compiled != nullptr ? (*compiled)->ops.size() : 0;
    if (cached_ops + ops > most_ops) {
        cache.clear();
        cached_ops = 0;
    }
    cached_ops += ops;
    cache.emplace(shape, program);
    return program;
}

}  // namespace prismopt
