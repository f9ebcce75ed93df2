#include "model/schedule/program_paths.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <variant>

namespace prismopt {

namespace {

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
constexpr float never = -std::numeric_limits<float>::infinity();

/// The ops of a program without most of what repeats. A path through them becomes one through the program if
/// a repetition of it takes the place of each that was omitted (docs/methods/step-graph.md).
struct Excerpt {
    struct Cut {
        Repeats repeats;            // their remainder
        std::uint32_t removed = 0;  // repetitions
    };
    std::vector<ProgramOp> ops;
    std::vector<std::uint32_t> fed_by;  // as in Program
    std::vector<Cut> cuts;
    int stages = 0;
    int chunks = 0;

    std::uint32_t feeder(std::uint32_t op) const { return fed_by[op] == 0 ? none : op - fed_by[op]; }
};

/// Omits the spare repetitions of `shortened`: among the others, paths choose where to stay.
Excerpt excerpt_of(const Program& program, std::span<const Repeats> shortened)
{
    Excerpt result{
        .ops = {}, .fed_by = {}, .cuts = {}, .stages = program.shape.stages, .chunks = program.shape.chunks};
    std::size_t taken = 0;
    const auto copy_until = [&](std::size_t end) {
        result.ops.insert(result.ops.end(), program.ops.begin() + static_cast<std::ptrdiff_t>(taken),
                          program.ops.begin() + static_cast<std::ptrdiff_t>(end));
        result.fed_by.insert(result.fed_by.end(), program.fed_by.begin() + static_cast<std::ptrdiff_t>(taken),
                             program.fed_by.begin() + static_cast<std::ptrdiff_t>(end));
        taken = end;
    };
    for (const Repeats& repeats : shortened) {
        const std::size_t spare = program.spare(repeats);
        if (spare == 0) {
            continue;
        }
        copy_until(repeats.first);
        const std::size_t first = result.ops.size();
        // Of ops that are equal, the last ones stay.
        taken = repeats.first + (spare - repeats.omitted) * repeats.period;
        copy_until(repeats.end);
        result.cuts.push_back(
            {{first, result.ops.size(), repeats.period}, static_cast<std::uint32_t>(spare)});
    }
    copy_until(program.ops.size());
    return result;
}

/// Of each op: its start with the op that decides it, and the longest path from its end
/// with the op that comes next on it.
struct Neighbours {
    std::vector<float> start;
    std::vector<std::uint32_t> before;
    std::vector<float> after;
    std::vector<std::uint32_t> next;
};

Neighbours neighbours_of(const Excerpt& program, const PathTimes& times)
{
    const std::vector<ProgramOp>& ops = program.ops;
    const std::size_t count = ops.size();
    Neighbours at{std::vector<float>(count), std::vector<std::uint32_t>(count, none),
                  std::vector<float>(count), std::vector<std::uint32_t>(count, none)};
    std::vector<std::uint32_t> latest(program.stages, none);
    const auto end_of = [&](std::uint32_t i) {
        return i == none ? 0.0F : at.start[i] + times.seconds[ops[i].distribution];
    };
    for (std::uint32_t i = 0; i < count; ++i) {
        const ProgramOp& op = ops[i];
        const std::uint32_t feeder = program.feeder(i);
        const float fed = end_of(feeder) + times.transfer[op.distribution];
        // Of equals the feeder: some transfer takes time.
        const bool waits = feeder != none && fed >= end_of(latest[op.stage]);
        at.before[i] = waits ? feeder : latest[op.stage];
        at.start[i] = waits ? fed : end_of(latest[op.stage]);
        latest[op.stage] = i;
    }
    // Backwards: what an op feeds comes after it.
    struct Successor {
        float length = never;
        std::uint32_t op = none;
    };
    std::vector<Successor> reader(count);
    std::vector<Successor> following(program.stages);
    for (auto i = static_cast<std::uint32_t>(count); i-- > 0;) {
        const ProgramOp& op = ops[i];
        Successor best = following[op.stage];
        if (best.op == none) {  // the stage's step ends
            best.length = times.after[op.stage_chunk];
        }
        if (reader[i].length > best.length) {
            best = reader[i];
        }
        at.after[i] = best.length;
        at.next[i] = best.op;
        const float length = times.seconds[op.distribution] + best.length;
        following[op.stage] = {length, i};
        const std::uint32_t feeder = program.feeder(i);
        if (feeder != none && length + times.transfer[op.distribution] > reader[feeder].length) {
            reader[feeder] = {length + times.transfer[op.distribution], i};
        }
    }
    return at;
}

/// How far before an op the one is that decides its start.
std::size_t farthest_wait(const Neighbours& at)
{
    std::uint32_t most = 0;
    for (std::uint32_t i = 0; i < at.before.size(); ++i) {
        most = std::max(most, at.before[i] == none ? 0 : i - at.before[i]);
    }
    return most;
}

/// The paths of some stages: each stays in its stage but where an op waits for others, and follows what that
/// op waits for back to the stage or to the beginning of the step.
struct Stays {
    std::vector<std::uint32_t> own;    // [op]: the op of its stage before it
    std::vector<std::uint32_t> entry;  // [op]: the first op of the stay that it belongs to
    // [op], if it is the first of a stay: the last one of the stay before; none: there is none
    std::vector<std::uint32_t> left;
    std::vector<std::uint32_t> last;  // [stage]: the last op of the path's last stay
};

Stays longest_stays(const Excerpt& program, const PathTimes& times, const Neighbours& at,
                    std::span<const int> stages)
{
    const std::vector<ProgramOp>& ops = program.ops;
    const std::vector<std::uint32_t> no_ops(ops.size(), none);
    Stays stays{no_ops, no_ops, no_ops, std::vector<std::uint32_t>(program.stages, none)};
    // [op]: slowed time of the path before the stay, less all slowed ops of the stage before
    std::vector<float> entered(ops.size());
    std::vector<float> slowed(ops.size());  // [op]: all ops of the stage up to this one
    std::vector<std::uint32_t> latest(program.stages, none);
    std::vector<float> longest(program.stages, never);
    const std::size_t width = stages.size();
    std::vector<std::size_t> column(program.stages, width);  // of a stage among these
    for (std::size_t k = 0; k < width; ++k) {
        column[stages[k]] = k;
    }
    // Of the last ops, as far back as one waits: [op][column]: it or, before it
    // on the way, the last op there.
    const std::size_t rows = std::bit_ceil(farthest_wait(at) + 1);
    std::vector<std::uint32_t> nearest(rows * width, none);
    const auto row_of = [&](std::uint32_t op) {
        return nearest.begin() + static_cast<std::ptrdiff_t>(op % rows * width);
    };
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
        const int stage = ops[i].stage;
        const std::uint32_t came_from = at.before[i];
        const auto row = row_of(i);
        if (came_from == none) {
            std::fill_n(row, width, none);
        } else {
            std::copy_n(row_of(came_from), width, row);
        }
        if (column[stage] == width) {
            continue;
        }
        const std::uint32_t from = std::exchange(row[static_cast<std::ptrdiff_t>(column[stage])], i);
        const std::uint32_t own = std::exchange(latest[stage], i);
        const float before = own == none ? 0.0F : slowed[own];
        slowed[i] = before + times.slowed[ops[i].distribution];
        stays.own[i] = own;
        stays.entry[i] = own == none ? i : stays.entry[own];
        entered[i] = own == none ? at.start[i] : entered[own];
        if (own != none && came_from != own) {
            const bool returns = from != none;
            const float chain =
                at.start[i] - (returns ? at.start[from] + times.seconds[ops[from].distribution] : 0.0F);
            const float arrived = (returns ? entered[from] + slowed[from] : 0.0F) + chain - before;
            if (arrived > entered[i]) {
                entered[i] = arrived;
                stays.entry[i] = i;
                stays.left[i] = from;
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

/// The ops of the path over `last`, from the first to the last.
std::vector<std::uint32_t> path_over(std::uint32_t last, const Neighbours& at, const Stays& stays)
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
    std::reverse(path.begin(), path.end());
    for (std::uint32_t op = at.next[last]; op != none; op = at.next[op]) {
        path.push_back(op);
    }
    return path;
}

/// How often the program's path takes each op of the path through the excerpt. Empty if that has no two ops
/// that are one repetition apart in each cut.
std::vector<std::uint32_t> multiplicities(const std::vector<std::uint32_t>& path, const Excerpt& excerpt)
{
    std::vector<std::uint32_t> times(path.size(), 1);
    for (const Excerpt::Cut& cut : excerpt.cuts) {
        const Repeats& repeats = cut.repeats;
        const auto begin =
            std::lower_bound(path.begin(), path.end(), repeats.first + repeats.count() / 2 * repeats.period);
        const auto end = std::lower_bound(begin, path.end(), repeats.end);
        const auto from = std::find_if(begin, end, [&](std::uint32_t op) {
            return std::binary_search(begin, end, op + static_cast<std::uint32_t>(repeats.period));
        });
        if (from == end) {
            return {};
        }
        const auto until = std::lower_bound(from, end, *from + repeats.period);
        for (auto op = from + 1; op <= until; ++op) {
            times[static_cast<std::size_t>(op - path.begin())] += cut.removed;
        }
    }
    return times;
}

/// Forward passes take one unit, backward passes two; by Pass.
PathTimes usual_times(const Program& program)
{
    constexpr std::array<float, 6> units{1.0F, 2.0F, 1.0F, 1.0F, 0.0F, 3.0F};
    constexpr float slowness = 1.1F;
    const std::size_t stage_chunks = static_cast<std::size_t>(program.shape.stages) * program.shape.chunks;
    PathTimes times;
    for (std::size_t i = 0; i < stage_chunks * program.passes; ++i) {
        times.seconds.push_back(units[i % program.passes]);
        times.slowed.push_back(slowness * times.seconds.back());
    }
    times.transfer.assign(times.seconds.size(), 0.0F);
    times.after.assign(stage_chunks, 0.0F);
    return times;
}

/// Counts by the distribution of ops.
class Counter {
public:
    explicit Counter(std::size_t distributions) : place_(distributions, none) {}

    void add(const ProgramOp& op, std::uint32_t times, bool transferred)
    {
        std::uint32_t& place = place_[op.distribution];
        if (place == none) {
            place = static_cast<std::uint32_t>(counts_.size());
            counts_.push_back({op.distribution, 0, 0});
        }
        counts_[place].ops += times;
        counts_[place].transfers += transferred ? times : 0;
    }
    std::vector<ProgramPath::Count> release()
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

std::optional<ProgramPaths> paths_through(const Excerpt& excerpt, const PathTimes& times, int passes,
                                          int most)
{
    const std::vector<ProgramOp>& ops = excerpt.ops;
    const Neighbours at = neighbours_of(excerpt, times);
    const int chosen = std::min(excerpt.stages, most);
    std::vector<int> stages(chosen);
    for (int i = 0; i < chosen; ++i) {
        stages[i] = chosen > 1 ? i * (excerpt.stages - 1) / (chosen - 1) : 0;
    }
    const Stays stays = longest_stays(excerpt, times, at, stages);
    const std::size_t distributions = static_cast<std::size_t>(excerpt.stages) * excerpt.chunks * passes;
    Counter own(distributions);
    Counter others(distributions);
    ProgramPaths result{passes, {}};
    for (const int stage : stages) {
        ProgramPath& path = result.paths.emplace_back();
        path.stage = stage;
        const std::vector<std::uint32_t> on_path = path_over(stays.last[path.stage], at, stays);
        const std::vector<std::uint32_t> repeated = multiplicities(on_path, excerpt);
        if (repeated.empty()) {
            return std::nullopt;
        }
        for (std::size_t k = 0; k < on_path.size(); ++k) {
            // Between two ops of a stage that follow each other nothing is transferred.
            const bool transferred = k > 0 && excerpt.feeder(on_path[k]) == on_path[k - 1];
            const ProgramOp& op = ops[on_path[k]];
            (op.stage == path.stage ? own : others).add(op, repeated[k], transferred);
        }
        path.own = own.release();
        path.others = others.release();
        path.first_chunk = ops[on_path.front()].stage_chunk;
        path.last_chunk = ops[on_path.back()].stage_chunk;
    }
    return result;
}

}  // namespace

ProgramPaths program_paths(const Program& program, int most)
{
    return program_paths(program, usual_times(program), most);
}

ProgramPaths program_paths(const Program& program, const PathTimes& times, int most)
{
    if (auto found = paths_through(excerpt_of(program, program.repeats), times, program.passes, most)) {
        return *std::move(found);
    }
    if (program.omitted > 0) {
        return program_paths(*std::get<std::shared_ptr<const Program>>(compiled_program(program.shape)),
                             times, most);
    }
    return *paths_through(excerpt_of(program, {}), times, program.passes, most);
}

}  // namespace prismopt
