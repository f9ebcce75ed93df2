#include "search/assignment.hpp"

#include "model/base/random.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <optional>
#include <set>

namespace prismopt {

namespace {

/// The state of fill_positions().
struct Enumeration {
    std::vector<int> left;  // [kind]: items in stock that are not assigned
    Assignment assignment;  // so far
    std::vector<Assignment> found;
};

/// Whether what there is of the last block is not below as much of the one before, so that the
/// first ways come without dead ends.
bool blocks_in_order(const Assignment& assignment, int block_size)
{
    const auto block = static_cast<std::ptrdiff_t>(block_size);
    const auto begin = (std::ssize(assignment) - 1) / block * block;
    if (begin == 0) {
        return true;
    }
    const auto last = assignment.begin() + begin;
    const auto before = last - block;
    return !std::lexicographical_compare(last, assignment.end(), before, before + (assignment.end() - last));
}

/// Fills positions in order, until more than `most` are found; blocks never fall lexicographically, so that
/// each set of blocks occurs once.
void fill_positions(const AssignmentProblem& problem, std::size_t most, Enumeration& state)
{
    if (state.found.size() > most) {
        return;
    }
    if (std::ssize(state.assignment) == problem.positions) {
        state.found.push_back(state.assignment);
        return;
    }
    for (int kind = 0; kind < std::ssize(state.left); ++kind) {
        if (state.left[kind] == 0) {
            continue;
        }
        --state.left[kind];
        state.assignment.push_back(kind);
        if (blocks_in_order(state.assignment, problem.block)) {
            fill_positions(problem, most, state);
        }
        state.assignment.pop_back();
        ++state.left[kind];
    }
}

struct Rated {
    Assignment assignment;
    double figure = std::numeric_limits<double>::infinity();
};

/// Judges in batches, and keeps the least and the most of all.
class Judge {
public:
    Judge(const AssignmentProblem& problem, AssignmentResult& result, std::size_t batch)
        : problem_(problem), result_(result), batch_(batch)
    {
        result.least = std::numeric_limits<double>::infinity();
        result.most = -std::numeric_limits<double>::infinity();
    }

    /// The first of those with the least figure.
    Rated operator()(std::span<const Assignment> assignments)
    {
        Rated best;
        for (; !assignments.empty();
             assignments = assignments.subspan(std::min(batch_, assignments.size()))) {
            const auto now = assignments.first(std::min(batch_, assignments.size()));
            const std::vector<double> figures = problem_.judge(now);
            for (std::size_t i = 0; i < now.size(); ++i) {
                if (figures[i] < best.figure) {
                    best = {now[i], figures[i]};
                }
                if (figures[i] > result_.most) {
                    result_.most = figures[i];
                    result_.worst = now[i];
                }
            }
            result_.judged += now.size();
        }
        if (best.figure < result_.least) {
            result_.least = best.figure;
            result_.best = best.assignment;
        }
        return best;
    }

private:
    const AssignmentProblem& problem_;
    AssignmentResult& result_;
    std::size_t batch_;
};

/// Ways down from an assignment, by moves.
class Descent {
public:
    Descent(const AssignmentProblem& problem, const AssignmentOptions& options, Judge& judge,
            AssignmentResult& result)
        : problem_(problem), options_(options), judge_(judge), result_(result)
    {
    }

    bool over() const { return result_.judged >= options_.most_judged || result_.least <= problem_.floor; }

    /// By the guide, then by the figure until some batches of moves do not gain; equal
    /// figures are a plateau to cross.
    void run(const Assignment& start)
    {
        std::vector<Assignment> now{start};
        if (problem_.guide) {
            now.push_back(guided(start));
        }
        Rated from = judge_(now);
        for (std::size_t vain = 0; vain < options_.patience && !over();) {
            const std::vector<Assignment> list = neighbours(from.assignment);
            const Rated best = judge_(list);
            if (list.size() < options_.batch && best.figure > from.figure) {
                return;  // these were all
            }
            vain = best.figure < from.figure ? 0 : vain + 1;
            if (best.figure <= from.figure) {
                from = best;
            }
        }
    }

    /// A few moves at once, so that the way down is another.
    Assignment kicked(Assignment assignment)
    {
        constexpr int kicks = 3;
        for (int i = 0; i < kicks; ++i) {
            const AssignmentMoves moves(problem_.stock, assignment);
            if (moves.count() > 0) {
                make_move(assignment, moves.at(below(moves.count())));
            }
        }
        return assignment;
    }

private:
    std::uint64_t below(std::uint64_t count)
    {
        const auto words = philox(options_.seed, {choice_++, 0, 0, use(Stream::strategy, Purpose::search)});
        return ((static_cast<std::uint64_t>(words[0]) << 32U) | words[1]) % count;
    }

    /// `count` different ones of as many as `of` numbers. R. W. Floyd, in Bentley,
    /// Commun. ACM 30 (1987) 754-757.
    std::set<std::uint64_t> some(std::uint64_t count, std::uint64_t of)
    {
        std::set<std::uint64_t> chosen;
        for (std::uint64_t last = of - std::min(count, of); last < of; ++last) {
            if (!chosen.insert(below(last + 1)).second) {
                chosen.insert(last);
            }
        }
        return chosen;
    }

    /// All assignments one move away where a batch holds them; else some, half of them with
    /// a change of the slowest block.
    std::vector<Assignment> neighbours(const Assignment& assignment)
    {
        const AssignmentMoves moves(problem_.stock, assignment);
        std::vector<Assignment> list;
        const auto add = [&](const AssignmentMove& move) {
            list.push_back(assignment);
            make_move(list.back(), move);
        };
        const bool few = moves.count() <= options_.batch;
        for (const std::uint64_t index :
             some(few || !problem_.guide ? options_.batch : options_.batch / 2, moves.count())) {
            add(moves.at(index));
        }
        if (!few && problem_.guide) {
            const std::size_t slowest = slowest_block(figures(assignment));
            for (std::size_t i = 0; i < options_.batch - options_.batch / 2; ++i) {
                const AssignmentMove move = change_of(assignment, slowest);
                if (move.kind != assignment[move.position]) {
                    add(move);
                }
            }
        }
        return list;
    }

    std::span<const int> block(const Assignment& assignment, std::size_t number) const
    {
        const auto size = static_cast<std::size_t>(problem_.block);
        return std::span(assignment).subspan(number * size, size);
    }
    std::size_t block_of(int position) const { return static_cast<std::size_t>(position / problem_.block); }

    /// [block]: what the guide says of it.
    std::vector<double> figures(const Assignment& assignment) const
    {
        std::vector<double> result;
        for (std::size_t k = 0; k < assignment.size() / problem_.block; ++k) {
            result.push_back(problem_.guide(block(assignment, k)));
        }
        return result;
    }
    static std::size_t slowest_block(const std::vector<double>& figures)
    {
        return static_cast<std::size_t>(std::max_element(figures.begin(), figures.end()) - figures.begin());
    }

    /// A position of the block with any other position; of one kind they may be.
    AssignmentMove change_of(const Assignment& assignment, std::size_t number)
    {
        const int position = static_cast<int>(number * problem_.block + below(problem_.block));
        const int other = static_cast<int>(below(assignment.size()));
        return {position, other, assignment[other]};
    }

    /// Downhill by the guide: moves of all positions and of the slowest block by turns,
    /// which are kept unless they lose.
    Assignment guided(Assignment assignment)
    {
        std::vector<double> figure = figures(assignment);
        std::optional<AssignmentMoves> moves;
        for (std::size_t i = 0; i < options_.guided; ++i) {
            if (!moves) {
                moves.emplace(problem_.stock, assignment);
            }
            if (moves->count() == 0) {
                break;
            }
            const AssignmentMove move =
                i % 2 == 0 ? moves->at(below(moves->count())) : change_of(assignment, slowest_block(figure));
            if (move.kind == assignment[move.position]) {
                continue;
            }
            const int former = assignment[move.position];
            make_move(assignment, move);
            const std::size_t a = block_of(move.position);
            const std::size_t b = move.other < 0 ? a : block_of(move.other);
            const double first = problem_.guide(block(assignment, a));
            const double second = a == b ? 0.0 : problem_.guide(block(assignment, b));
            if (first + second <= figure[a] + (a == b ? 0.0 : figure[b])) {
                figure[a] = first;
                figure[b] = a == b ? first : second;
                moves.reset();
            } else {
                make_move(assignment, {move.position, move.other, former});
            }
        }
        return assignment;
    }

    const AssignmentProblem& problem_;
    const AssignmentOptions& options_;
    Judge& judge_;
    AssignmentResult& result_;
    std::uint32_t choice_ = 0;
};

}  // namespace

AssignmentMoves::AssignmentMoves(const std::vector<int>& stock, const Assignment& assignment)
    : by_kind_(assignment.size()), first_(stock.size() + 1, 0), before_(stock.size() + 1, 0)
{
    for (const int kind : assignment) {
        ++first_[kind + 1];
    }
    for (std::size_t kind = 0; kind < stock.size(); ++kind) {
        rank_.push_back(static_cast<int>(left_.size()));
        if (stock[kind] > first_[kind + 1]) {
            left_.push_back(static_cast<int>(kind));
        }
        first_[kind + 1] += first_[kind];
    }
    std::vector<int> next = first_;
    for (std::size_t position = 0; position < assignment.size(); ++position) {
        by_kind_[next[assignment[position]]++] = static_cast<int>(position);
    }
    for (std::size_t kind = 0; kind < stock.size(); ++kind) {
        before_[kind + 1] =
            before_[kind] + positions(static_cast<int>(kind)) * moves_of_position(static_cast<int>(kind));
    }
}

std::uint64_t AssignmentMoves::moves_of_position(int kind) const
{
    const auto rank = static_cast<std::size_t>(rank_[kind]);
    const bool own_left = rank < left_.size() && left_[rank] == kind;
    return by_kind_.size() - static_cast<std::size_t>(first_[kind + 1]) + left_.size() - (own_left ? 1 : 0);
}

AssignmentMove AssignmentMoves::at(std::uint64_t index) const
{
    assert(index < count());
    const int kind =
        static_cast<int>(std::upper_bound(before_.begin(), before_.end(), index) - before_.begin()) - 1;
    const std::uint64_t inside = index - before_[kind];
    const int position =
        by_kind_[static_cast<std::uint64_t>(first_[kind]) + inside / moves_of_position(kind)];
    std::uint64_t to = inside % moves_of_position(kind);
    // positions of kinds above
    const std::uint64_t above = by_kind_.size() - static_cast<std::size_t>(first_[kind + 1]);
    if (to < above) {
        const std::uint64_t place = static_cast<std::uint64_t>(first_[kind + 1]) + to;
        const auto other = std::upper_bound(first_.begin(), first_.end(), static_cast<int>(place));
        return {position, by_kind_[place], static_cast<int>(other - first_.begin()) - 1};
    }
    to -= above;
    const auto rank = static_cast<std::size_t>(rank_[kind]);
    const bool own_left = rank < left_.size() && left_[rank] == kind;
    return {position, -1, left_[to + (own_left && to >= rank ? 1 : 0)]};
}

void make_move(Assignment& assignment, const AssignmentMove& move)
{
    if (move.other >= 0) {
        assignment[move.other] = assignment[move.position];
    }
    assignment[move.position] = move.kind;
}

std::vector<Assignment> all_assignments(const AssignmentProblem& problem, std::size_t most)
{
    Enumeration enumeration{.left = problem.stock, .assignment = {}, .found = {}};
    fill_positions(problem, most, enumeration);
    return enumeration.found.size() > most ? std::vector<Assignment>{} : std::move(enumeration.found);
}

AssignmentResult best_assignment(const AssignmentProblem& problem, std::span<const Assignment> starts,
                                 const AssignmentOptions& options)
{
    AssignmentResult result;
    Judge judge(problem, result, options.batch);
    const std::vector<Assignment> all = all_assignments(problem, options.most_exact);
    if (!all.empty()) {
        judge(all);
        result.exact = true;
        return result;
    }
    assert(!starts.empty());
    Descent descent(problem, options, judge, result);
    descent.run(judge(starts).assignment);
    for (std::size_t kick = 0; kick < options.kicks && !descent.over(); ++kick) {
        descent.run(descent.kicked(result.best));
    }
    result.cut = result.judged >= options.most_judged && result.least > problem.floor;
    return result;
}

}  // namespace prismopt
