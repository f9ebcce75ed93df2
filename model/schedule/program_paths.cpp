#include "model/schedule/program_paths.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace prismopt {

namespace {

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
constexpr float never = -std::numeric_limits<float>::infinity();

/// Of each op: its start with the op that decides it, and the longest path from its end with the op that comes next on it.
struct Neighbours {
    std::vector<float> start;
    std::vector<std::uint32_t> before;
    std::vector<float> after;
    std::vector<std::uint32_t> next;
};

Neighbours neighbours_of(const Program& program, const PathTimes& times)
{
    const std::vector<ProgramOp>& ops = program.ops;
    const std::size_t count = ops.size();
    Neighbours at{std::vector<float>(count), std::vector<std::uint32_t>(count, none), std::vector<float>(count),
                  std::vector<std::uint32_t>(count, none)};
    std::vector<std::uint32_t> writer(program.slots, none);  // [slot]
    std::vector<std::uint32_t> latest(program.shape.stages, none);
    const auto end_of = [&](std::uint32_t i) { return i == none ? 0.0F : at.start[i] + times.seconds[ops[i].distribution]; };
    for (std::uint32_t i = 0; i < count; ++i) {
        const ProgramOp& op = ops[i];
        const std::uint32_t feeder = op.in == Program::start ? none : writer[op.in];
        const float fed = end_of(feeder) + times.transfer[op.distribution];
        const bool waits = feeder != none && fed >= end_of(latest[op.stage]);  // of equals the feeder: some transfer takes time
        at.before[i] = waits ? feeder : latest[op.stage];
        at.start[i] = waits ? fed : end_of(latest[op.stage]);
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
        Successor best = following[op.stage];
        if (best.op == none) {  // the stage's step ends
            best.length = times.after[op.part];
        }
        if (reader[op.out].length > best.length) {
            best = reader[op.out];
        }
        reader[op.out] = {};
        at.after[i] = best.length;
        at.next[i] = best.op;
        const float length = times.seconds[op.distribution] + best.length;
        following[op.stage] = {length, i};
        if (op.in != Program::start && length + times.transfer[op.distribution] > reader[op.in].length) {
            reader[op.in] = {length + times.transfer[op.distribution], i};
        }
    }
    return at;
}

/// The path of each stage: it stays there but where an op waits for others, and follows what that op waits for back to the stage
/// or to the beginning of the step.
struct Stays {
    std::vector<std::uint32_t> own;    // [op]: the op of its stage before it
    std::vector<std::uint32_t> entry;  // [op]: the first op of the stay that it belongs to
    std::vector<std::uint32_t> left;   // [op], if it is the first of a stay: the last one of the stay before; none: there is none
    std::vector<std::uint32_t> last;   // [stage]: the last op of the path's last stay
};

Stays longest_stays(const Program& program, const PathTimes& times, const Neighbours& at)
{
    const std::vector<ProgramOp>& ops = program.ops;
    const std::vector<std::uint32_t> no_ops(ops.size(), none);
    Stays stays{no_ops, no_ops, no_ops, std::vector<std::uint32_t>(program.shape.stages, none)};
    std::vector<float> entered(
        ops.size());  // [op]: slowed time of the path before the stay, less all slowed ops of the stage before
    std::vector<float> slowed(ops.size());  // [op]: all ops of the stage up to this one
    std::vector<std::uint32_t> latest(program.shape.stages, none);
    std::vector<float> longest(program.shape.stages, never);
    const int longest_chain = 4 * program.shape.stages * program.shape.chunks;
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
        const int stage = ops[i].stage;
        const std::uint32_t own = std::exchange(latest[stage], i);
        const float before = own == none ? 0.0F : slowed[own];
        slowed[i] = before + times.slowed[ops[i].distribution];
        stays.own[i] = own;
        stays.entry[i] = own == none ? i : stays.entry[own];
        entered[i] = own == none ? at.start[i] : entered[own];
        if (own != none && at.before[i] != own) {
            std::uint32_t from = at.before[i];
            for (int link = 0; from != none && ops[from].stage != stage && link < longest_chain; ++link) {
                from = at.before[from];
            }
            const bool returns = from != none && ops[from].stage == stage;
            const float chain = at.start[i] - (returns ? at.start[from] + times.seconds[ops[from].distribution] : 0.0F);
            const float arrived = (returns ? entered[from] + slowed[from] : 0.0F) + chain - before;
            if (arrived > entered[i]) {
                entered[i] = arrived;
                stays.entry[i] = i;
                stays.left[i] = returns ? from : none;
            }
        }
        const float length = entered[i] + slowed[i] + at.after[i];
        if (length > longest[stage]) {
            longest[stage] = length;
            stays.last[stage] = i;
        }
    }
    return stays;
}

/// The ops of the path up to `last`, from the last to the first.
std::vector<std::uint32_t> ops_until(std::uint32_t last, const Neighbours& at, const Stays& stays)
{
    std::vector<std::uint32_t> path;
    for (std::uint32_t op = last; op != none;) {
        const std::uint32_t entry = stays.entry[op];
        for (; op != entry; op = stays.own[op]) {
            path.push_back(op);
        }
        path.push_back(entry);
        for (op = at.before[entry]; op != stays.left[entry]; op = at.before[op]) {
            path.push_back(op);
        }
    }
    return path;
}

/// Forward passes take one unit, backward passes two; by Pass.
PathTimes usual_times(const Program& program)
{
    constexpr std::array<float, 6> units{1.0F, 2.0F, 1.0F, 1.0F, 0.0F, 3.0F};
    constexpr float slowness = 1.1F;
    const std::size_t parts = static_cast<std::size_t>(program.shape.stages) * program.shape.chunks;
    PathTimes times;
    for (std::size_t i = 0; i < parts * program.passes; ++i) {
        times.seconds.push_back(units[i % program.passes]);
        times.slowed.push_back(slowness * times.seconds.back());
    }
    times.transfer.assign(times.seconds.size(), 0.0F);
    times.after.assign(parts, 0.0F);
    return times;
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

ProgramPaths program_paths(const Program& program, int most) { return program_paths(program, usual_times(program), most); }

ProgramPaths program_paths(const Program& program, const PathTimes& times, int most)
{
    const std::vector<ProgramOp>& ops = program.ops;
    const Neighbours at = neighbours_of(program, times);
    const Stays stays = longest_stays(program, times, at);
    const int stages = program.shape.stages;
    const int chosen = std::min(stages, most);
    const std::size_t distributions = static_cast<std::size_t>(stages) * program.shape.chunks * program.passes;
    Counter own(distributions);
    Counter others(distributions);
    ProgramPaths result{program.passes, {}};
    for (int i = 0; i < chosen; ++i) {
        ProgramPath& path = result.paths.emplace_back();
        path.stage = chosen > 1 ? i * (stages - 1) / (chosen - 1) : 0;
        const auto add = [&](std::uint32_t before, std::uint32_t op) {
            // Between two ops of a stage that follow each other nothing is transferred.
            const bool transferred = before != none && (ops[before].stage != ops[op].stage || ops[before].out == ops[op].in);
            (ops[op].stage == path.stage ? own : others).add(ops[op], transferred);
        };
        const std::vector<std::uint32_t> until = ops_until(stays.last[path.stage], at, stays);
        for (std::size_t k = 0; k < until.size(); ++k) {
            add(k + 1 < until.size() ? until[k + 1] : none, until[k]);
        }
        std::uint32_t last = until.front();
        for (std::uint32_t op = at.next[last]; op != none; op = at.next[op]) {
            add(last, op);
            last = op;
        }
        path.own = own.take();
        path.others = others.take();
        path.first_part = ops[until.back()].part;
        path.last_part = ops[last].part;
    }
    return result;
}

}  // namespace prismopt
