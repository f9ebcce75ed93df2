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
    std::int32_t allocate(int readers)
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
        const auto below = [](const HeldPasses& a, const HeldPasses& b) {
            return a.saved <= b.saved && a.held <= b.held;
        };
        std::vector<HeldPasses>& list = most[op.stage];
        if (std::none_of(list.begin(), list.end(),
                         [&](const HeldPasses& other) { return below(here, other); })) {
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
        // Rounds over the stages, each taking the ops whose inputs were there before the round: near to
        // the order in time, so slots stay few; and neighbours in the program do not wait for each
        // other, so a processor overlaps them.
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
            return Infeasible{Conflict::tasks_wait, {{FactKey::tasks, left}}};
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
        return waiting_[(static_cast<std::size_t>(forward ? 0 : positions_) + position) *
                            shape_.microbatches +
                        microbatch];
    }

    /// Whether what the task needs on its own chunk, and from the neighbouring one, is there: none from
    /// beyond the ends of the network, and none for weight gradients.
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
        op.stage_chunk = static_cast<std::uint32_t>(able.stage * shape_.chunks + t.chunk);
        op.distribution = op.stage_chunk * passes_ + static_cast<std::uint32_t>(op.pass);
        op.first_of_chunk = is_forward(t.pass) && forwards_[able.position]++ == 0;
        op.last_of_chunk =
            gives_weight_gradient(t.pass) && ++weights_[able.position] == microbatches_[t.chunk];
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

    /// What the stage does next reads an op's end, or the step's end does; and so do neighbours. Both ends of
    /// a pair are its backward's end.
    void hand_on(const Able& able, const Task& t, ProgramOp& op)
    {
        if (t.pass == Pass::paired_forward) {
            forward_of_pair_[able.stage] = t;
        }
        if (t.pass == Pass::paired_forward || t.pass == Pass::weight_gradient) {
            op.out = slots_.allocate(1);
            return;
        }
        const auto readers = [&](bool forward, int position) {
            return (forward ? after_ : before_)[position] != nowhere ? 1 : 0;
        };
        const bool forward = is_forward(t.pass);
        if (t.pass != Pass::paired_backward) {
            op.out = slots_.allocate(1 + readers(forward, able.position));
            slot_of(forward, able.position, t.microbatch) = op.out;
            return;
        }
        const Task& beside = forward_of_pair_[able.stage];
        const int position = position_of(able.stage, beside.chunk);
        op.out = slots_.allocate(1 + readers(false, able.position) + readers(true, position));
        slot_of(false, able.position, t.microbatch) = op.out;
        slot_of(true, position, beside.microbatch) = op.out;
    }

    const ScheduleShape& shape_;
    const TaskOrders& orders_;
    int positions_ = 0;
    std::uint32_t passes_ = 0;
    std::vector<int> microbatches_;  // [chunk]
    std::vector<int> before_;        // [position]: of the part before, or `nowhere`
    std::vector<int> after_;         // [position]
    // [(gradient * positions + position) * m + microbatch]: slot or `absent`
    std::vector<std::int32_t> waiting_;
    std::vector<int> forwards_;          // [position]: emitted
    std::vector<int> weights_;           // [position]: ops emitted that give weight gradients
    std::vector<Task> forward_of_pair_;  // [stage]: the last one
    std::vector<std::int32_t> last_;     // [stage]: slot of the latest op's end
    Slots slots_;
    std::vector<std::uint32_t> writer_;  // [slot]: the last op that wrote it
    std::uint32_t emitted_ = 0;          // ops
};

}  // namespace

CompiledProgram compile_program(const ScheduleShape& shape, const TaskOrders& orders)
{
    return Compiler(shape, orders).run();
}

namespace {

/// Programs by shape; forgets all before they have more than `most_ops` ops, of 36
/// bytes each, but for the last one.
class ProgramCache {
public:
    explicit ProgramCache(std::size_t most_ops) : most_ops_(most_ops) {}

    template <class Make>
    CompiledProgram of(const ScheduleShape& shape, Make&& make)
    {
        if (const auto found = programs_.find(shape); found != programs_.end()) {
            return found->second;
        }
        CompiledProgram program = make();
        const auto* compiled = std::get_if<std::shared_ptr<const Program>>(&program);
        const std::size_t ops = compiled != nullptr ? (*compiled)->ops.size() : 0;
        if (ops_ + ops > most_ops_) {
            programs_.clear();
            ops_ = 0;
        }
        ops_ += ops;
        programs_.emplace(shape, program);
        return program;
    }

private:
    std::map<ScheduleShape, CompiledProgram> programs_;
    std::size_t most_ops_;
    std::size_t ops_ = 0;
};

/// The parts of a program that a shortened one has as well, without the ops.
Program without_ops(const Program& program)
{
    Program rest;
    rest.shape = program.shape;
    rest.passes = program.passes;
    rest.longest_wait = program.longest_wait;
    rest.op_count = program.op_count;
    rest.most_held = program.most_held;
    return rest;
}

ProgramOp without_slots(ProgramOp op)
{
    op.microbatch = 0;
    op.in = Program::start;
    op.before = Program::start;
    op.out = Program::start;
    return op;
}

/// Of repetitions, the first one and the last ones stay.
Program shortened(const Program& whole)
{
    Program program = without_ops(whole);
    std::size_t taken = 0;
    const auto copy_until = [&](std::size_t end) {
        for (; taken < end; ++taken) {
            program.ops.push_back(without_slots(whole.ops[taken]));
            program.fed_by.push_back(whole.fed_by[taken]);
        }
    };
    for (const Repeats& repeats : whole.repeats) {
        const std::size_t spare = whole.spare(repeats);
        copy_until(repeats.first);
        Repeats& kept = program.repeats.emplace_back(Repeats{program.ops.size(), 0, repeats.period, spare});
        copy_until(repeats.first + repeats.period);
        taken += spare * repeats.period;
        copy_until(repeats.end);
        kept.end = program.ops.size();
        program.omitted += spare * repeats.period;
    }
    copy_until(whole.ops.size());
    return program;
}

/// A shortened program in eight bytes per op.
class PackedProgram {
public:
    explicit PackedProgram(const Program& program) : rest_(without_ops(program)), fed_by_(program.fed_by)
    {
        rest_.repeats = program.repeats;
        rest_.omitted = program.omitted;
        ops_.reserve(program.ops.size());
        for (const ProgramOp& op : program.ops) {
            ops_.push_back(op.distribution << 2 | (op.first_of_chunk ? 2U : 0U) |
                           (op.last_of_chunk ? 1U : 0U));
        }
    }

    Program unpacked() const
    {
        Program program = rest_;
        program.fed_by = fed_by_;
        program.ops.resize(ops_.size());
        const auto passes = static_cast<std::uint32_t>(rest_.passes);
        const auto chunks = static_cast<std::uint32_t>(rest_.shape.chunks);
        for (std::size_t i = 0; i < ops_.size(); ++i) {
            ProgramOp& op = program.ops[i];
            op.distribution = ops_[i] >> 2;
            op.stage_chunk = op.distribution / passes;
            op.pass = static_cast<Pass>(op.distribution % passes);
            op.stage = static_cast<std::uint16_t>(op.stage_chunk / chunks);
            op.chunk = static_cast<std::uint16_t>(op.stage_chunk % chunks);
            op.first_of_chunk = (ops_[i] & 2U) != 0;
            op.last_of_chunk = (ops_[i] & 1U) != 0;
        }
        return program;
    }

private:
    Program rest_;
    std::vector<std::uint32_t> ops_;  // distribution, first and last of its chunk
    std::vector<std::uint32_t> fed_by_;
};

}  // namespace

std::size_t Program::spare(const Repeats& repeated) const
{
    constexpr std::size_t pipelines = 4;
    const std::size_t kept =
        std::max<std::size_t>(2 * longest_wait, pipelines * ops_of_pipeline()) / repeated.period + 3;
    const std::size_t count = repeated.count() + repeated.omitted;
    return count - std::min(count, kept);
}

CompiledProgram compiled_program(const ScheduleShape& shape)
{
    thread_local ProgramCache cache(1U << 21);
    return cache.of(shape, [&]() -> CompiledProgram {
        auto orders = task_orders(shape);
        if (const auto* refusal = std::get_if<Infeasible>(&orders)) {
            return *refusal;
        }
        return compile_program(shape, std::get<TaskOrders>(orders));
    });
}

CompiledProgram shortened_program(const ScheduleShape& shape)
{
    thread_local ProgramCache recent(1U << 20);
    // a search comes back to a shape at each number of GPUs
    thread_local std::map<ScheduleShape, PackedProgram> packed;
    thread_local std::size_t packed_ops = 0;
    constexpr std::size_t most_packed = 5U << 22;  // 168 MB of ops
    return recent.of(shape, [&]() -> CompiledProgram {
        if (const auto found = packed.find(shape); found != packed.end()) {
            return std::make_shared<const Program>(found->second.unpacked());
        }
        const CompiledProgram whole = compiled_program(shape);
        if (std::holds_alternative<Infeasible>(whole)) {
            return whole;
        }
        auto program =
            std::make_shared<const Program>(shortened(*std::get<std::shared_ptr<const Program>>(whole)));
        if (packed_ops + program->ops.size() > most_packed) {
            packed.clear();
            packed_ops = 0;
        }
        packed_ops += program->ops.size();
        packed.emplace(shape, *program);
        return program;
    });
}

}  // namespace prismopt
