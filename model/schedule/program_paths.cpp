#include "model/schedule/program_paths.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace prismopt {

namespace {

constexpr float slowness = 1.1F;
constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
constexpr float never = -std::numeric_limits<float>::infinity();

/// By Pass.
constexpr std::array<float, 6> duration{1.0F, 2.0F, 1.0F, 1.0F, 0.0F, 3.0F};
float duration_of(const ProgramOp& op) { return duration[static_cast<std::size_t>(op.pass)]; }

/// Of each op: its start with the op that decides it, and the longest path from its end with the op that comes next on it.
struct Neighbours {
    std::vector<float> start;
    std::vector<std::uint32_t> before;
    std::vector<float> after;
    std::vector<std::uint32_t> next;
};

Neighbours neighbours_of(const Program& program)
{
    const std::vector<ProgramOp>& ops = program.ops;
    const std::size_t count = ops.size();
    Neighbours at{std::vector<float>(count), std::vector<std::uint32_t>(count, none), std::vector<float>(count),
                  std::vector<std::uint32_t>(count, none)};
    std::vector<std::uint32_t> writer(program.slots, none);  // [slot]
    std::vector<std::uint32_t> latest(program.shape.stages, none);
    const auto end_of = [&](std::uint32_t i) { return i == none ? 0.0F : at.start[i] + duration_of(ops[i]); };
    for (std::uint32_t i = 0; i < count; ++i) {
        const ProgramOp& op = ops[i];
        const std::uint32_t feeder = op.in == Program::start ? none : writer[op.in];
        at.before[i] = feeder != none && end_of(feeder) > end_of(latest[op.stage]) ? feeder : latest[op.stage];
        at.before[i] = at.before[i] == none ? feeder : at.before[i];
        at.start[i] = end_of(at.before[i]);
        latest[op.stage] = i;
        writer[op.out] = i;
    }
    // Backwards: what reads an op's slot comes after the op and before the next op that writes it.
    struct Successor {
        float length = never;
        std::uint32_t op = none;
    };
    std::vector<Successor> reader(program.slots);
    std::vector<Successor> following(program.shape.stages);
    for (auto i = static_cast<std::uint32_t>(count); i-- > 0;) {
        const ProgramOp& op = ops[i];
        Successor best =
            following[op.stage].op == none ? Successor{0.0F, none} : following[op.stage];  // none: the stage's step ends
        if (reader[op.out].length > best.length) {
            best = reader[op.out];
        }
        reader[op.out] = {};
        at.after[i] = best.length;
        at.next[i] = best.op;
        const Successor own{duration_of(op) + best.length, i};
        following[op.stage] = own;
        if (op.in != Program::start && own.length > reader[op.in].length) {
            reader[op.in] = own;
        }
    }
    return at;
}

/// First and last op in its stage of the path to be chosen.
struct Inside {
    float entered = never;  // slowed time before the first op, less all slowed ops of the stage before that
    std::uint32_t entry = none;
    float slowed = 0.0F;  // all ops of the stage so far
    float longest = never;
    std::uint32_t first = none;
    std::uint32_t last = none;
};

std::vector<Inside> longest_stays(const Program& program, const Neighbours& at)
{
    std::vector<Inside> stages(program.shape.stages);
    for (std::uint32_t i = 0; i < program.ops.size(); ++i) {
        Inside& stage = stages[program.ops[i].stage];
        if (at.start[i] - stage.slowed > stage.entered) {
            stage.entered = at.start[i] - stage.slowed;
            stage.entry = i;
        }
        stage.slowed += slowness * duration_of(program.ops[i]);
        const float length = stage.entered + stage.slowed + at.after[i];
        if (length > stage.longest) {
            stage.longest = length;
            stage.first = stage.entry;
            stage.last = i;
        }
    }
    return stages;
}

/// Counts by the distribution of ops.
class Counter {
public:
    explicit Counter(std::size_t distributions) : place_(distributions, none) {}

    void add(const ProgramOp& op, bool transferred)
    {
        std::uint32_t& place = place_[op.distribution];
        if (place == none) {
            place = static_cast<std::uint32_t>(counts_.size());
            counts_.push_back({op.distribution, 0, 0});
        }
        ++counts_[place].ops;
        counts_[place].transfers += transferred ? 1 : 0;
    }
    std::vector<ProgramPath::Count> take()
    {
        for (const ProgramPath::Count& count : counts_) {
            place_[count.distribution] = none;
        }
        return std::exchange(counts_, {});
    }

private:
    std::vector<std::uint32_t> place_;  // [distribution]
    std::vector<ProgramPath::Count> counts_;
};

}  // namespace

ProgramPaths program_paths(const Program& program, int most)
{
    const std::vector<ProgramOp>& ops = program.ops;
    const Neighbours at = neighbours_of(program);
    const std::vector<Inside> stays = longest_stays(program, at);
    const int stages = program.shape.stages;
    const int chosen = std::min(stages, most);
    Counter counter(static_cast<std::size_t>(stages) * program.shape.chunks * program.passes);
    // Between two ops of a stage that follow each other nothing is transferred.
    const auto transferred = [&](std::uint32_t from, std::uint32_t to) {
        return from != none && (ops[from].stage != ops[to].stage || ops[from].out == ops[to].in);
    };
    ProgramPaths result{program.passes, {}};
    for (int i = 0; i < chosen; ++i) {
        ProgramPath& path = result.paths.emplace_back();
        path.stage = chosen > 1 ? i * (stages - 1) / (chosen - 1) : 0;
        const Inside& stay = stays[path.stage];
        counter.add(ops[stay.first], transferred(at.before[stay.first], stay.first));
        for (std::uint32_t op = stay.first + 1; op <= stay.last; ++op) {
            if (ops[op].stage == path.stage) {
                counter.add(ops[op], false);
            }
        }
        path.own = counter.take();
        std::uint32_t first = stay.first;
        for (std::uint32_t op = at.before[first]; op != none; op = at.before[op]) {
            counter.add(ops[op], transferred(at.before[op], op));
            first = op;
        }
        std::uint32_t last = stay.last;
        for (std::uint32_t op = at.next[last]; op != none; op = at.next[op]) {
            counter.add(ops[op], transferred(last, op));
            last = op;
        }
        path.others = counter.take();
        path.first_part = ops[first].part;
        path.last_part = ops[last].part;
    }
    return result;
}

}  // namespace prismopt
