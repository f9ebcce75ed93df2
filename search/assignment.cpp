#include "search/assignment.hpp"

#include "model/random.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

namespace prismopt {

namespace {

/// Fills seats in order; blocks never fall lexicographically, so that each set of blocks occurs once.
class Enumeration {
public:
    Enumeration(const SeatingProblem& problem, std::size_t most) : problem_(problem), most_(most), left_(problem.stock) {}

    std::vector<Seating> run()
    {
        fill();
        return found_.size() > most_ ? std::vector<Seating>{} : std::move(found_);
    }

private:
    void fill()
    {
        if (found_.size() > most_) {
            return;
        }
        if (static_cast<int>(seating_.size()) == problem_.seats) {
            found_.push_back(seating_);
            return;
        }
        for (int kind = 0; kind < static_cast<int>(left_.size()); ++kind) {
            if (left_[kind] == 0) {
                continue;
            }
            --left_[kind];
            seating_.push_back(kind);
            if (in_order()) {
                fill();
            }
            seating_.pop_back();
            ++left_[kind];
        }
    }

    /// What there is of the last block is not below as much of the one before, so that the first ways come without dead ends.
    bool in_order() const
    {
        const auto block = static_cast<std::ptrdiff_t>(problem_.block);
        const auto begin = (static_cast<std::ptrdiff_t>(seating_.size()) - 1) / block * block;
        if (begin == 0) {
            return true;
        }
        const auto last = seating_.begin() + begin;
        const auto before = last - block;
        return !std::lexicographical_compare(last, seating_.end(), before, before + (seating_.end() - last));
    }

    const SeatingProblem& problem_;
    std::size_t most_;
    std::vector<int> left_;
    Seating seating_;
    std::vector<Seating> found_;
};

std::vector<int> left_over(const SeatingProblem& problem, const Seating& seating)
{
    std::vector<int> left = problem.stock;
    for (const int kind : seating) {
        --left[kind];
    }
    return left;
}

/// Every seating one move away, each once.
std::vector<Seating> neighbours(const SeatingProblem& problem, const Seating& seating)
{
    std::vector<Seating> list;
    const auto add = [&](std::size_t seat, int kind, std::size_t other_seat, int other_kind) {
        list.push_back(seating);
        list.back()[other_seat] = other_kind;
        list.back()[seat] = kind;
    };
    const std::vector<int> left = left_over(problem, seating);
    for (std::size_t a = 0; a < seating.size(); ++a) {
        for (std::size_t b = a + 1; b < seating.size(); ++b) {
            if (seating[a] != seating[b]) {
                add(a, seating[b], b, seating[a]);
            }
        }
        for (int kind = 0; kind < static_cast<int>(left.size()); ++kind) {
            if (left[kind] > 0 && kind != seating[a]) {
                add(a, kind, a, kind);
            }
        }
    }
    return list;
}

struct Rated {
    Seating seating;
    double figure = std::numeric_limits<double>::infinity();
};

/// Judges in batches, and keeps the least and the most of all.
class Judge {
public:
    Judge(const SeatingProblem& problem, SeatingResult& result, std::size_t batch)
        : problem_(problem), result_(result), batch_(batch)
    {
        result.least = std::numeric_limits<double>::infinity();
        result.most = -std::numeric_limits<double>::infinity();
    }

    /// The first of those with the least figure.
    Rated operator()(std::span<const Seating> seatings)
    {
        Rated best;
        for (; !seatings.empty(); seatings = seatings.subspan(std::min(batch_, seatings.size()))) {
            const auto now = seatings.first(std::min(batch_, seatings.size()));
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
            result_.best = best.seating;
        }
        return best;
    }

private:
    const SeatingProblem& problem_;
    SeatingResult& result_;
    std::size_t batch_;
};

/// Moves from one seating: every one, or some drawn at random.
class Moves {
public:
    Moves(const SeatingProblem& problem, const SeatingOptions& options) : problem_(problem), options_(options) {}

    bool few(const std::vector<Seating>& moves) const { return moves.size() <= options_.batch; }
    /// Shuffled as far as they are taken.
    std::vector<Seating> some(std::vector<Seating> moves, std::size_t count)
    {
        count = std::min(count, moves.size());
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t word = philox(options_.seed, {choice_++, 0, 0, use(Stream::strategy, Purpose::search)})[0];
            std::swap(moves[i], moves[i + word % (moves.size() - i)]);
        }
        moves.resize(count);
        return moves;
    }
    /// Downhill from here until no move gains, or a batch of random ones does not.
    void descend(Rated from, Judge& judge, const SeatingResult& result)
    {
        while (result.judged < options_.most_judged) {
            std::vector<Seating> moves = neighbours(problem_, from.seating);
            if (!few(moves)) {
                moves = some(std::move(moves), options_.batch);
            }
            const Rated best = judge(moves);
            if (!(best.figure < from.figure)) {
                return;
            }
            from = best;
        }
    }
    /// A few moves at once, so that the way down is another.
    Seating kicked(Seating seating)
    {
        constexpr int kicks = 3;
        for (int i = 0; i < kicks; ++i) {
            const auto moved = some(neighbours(problem_, seating), 1);
            seating = moved.empty() ? seating : moved.front();
        }
        return seating;
    }

private:
    const SeatingProblem& problem_;
    const SeatingOptions& options_;
    std::uint32_t choice_ = 0;
};

}  // namespace

std::vector<Seating> all_seatings(const SeatingProblem& problem, std::size_t most) { return Enumeration(problem, most).run(); }

SeatingResult best_seating(const SeatingProblem& problem, std::span<const Seating> starts, const SeatingOptions& options)
{
    SeatingResult result;
    Judge judge(problem, result, options.batch);
    const std::vector<Seating> all = all_seatings(problem, options.most_exact);
    if (!all.empty()) {
        judge(all);
        result.exact = true;
        return result;
    }
    assert(!starts.empty());
    Moves moves(problem, options);
    moves.descend(judge(starts), judge, result);
    for (std::size_t kick = 0; kick < options.kicks && result.judged < options.most_judged; ++kick) {
        const Seating from = moves.kicked(result.best);
        moves.descend(judge(std::span(&from, 1)), judge, result);
    }
    return result;
}

}  // namespace prismopt
