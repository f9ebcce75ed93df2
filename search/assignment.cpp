#include "search/assignment.hpp"

#include "model/base/random.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <optional>
#include <set>

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

/// Ways down from a seating, by moves.
class Descent {
public:
    Descent(const SeatingProblem& problem, const SeatingOptions& options, Judge& judge, SeatingResult& result)
        : problem_(problem), options_(options), judge_(judge), result_(result)
    {
    }

    bool over() const { return result_.judged >= options_.most_judged || result_.least <= problem_.floor; }

    /// By the guide, then by the figure until some batches of moves do not gain; equal figures are a plateau to cross.
    void run(const Seating& start)
    {
        std::vector<Seating> now{start};
        if (problem_.guide) {
            now.push_back(guided(start));
        }
        Rated from = judge_(now);
        for (std::size_t vain = 0; vain < options_.patience && !over();) {
            const std::vector<Seating> list = neighbours(from.seating);
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
    Seating kicked(Seating seating)
    {
        constexpr int kicks = 3;
        for (int i = 0; i < kicks; ++i) {
            const SeatMoves moves(problem_.stock, seating);
            if (moves.count() > 0) {
                make_move(seating, moves.at(below(moves.count())));
            }
        }
        return seating;
    }

private:
    std::uint64_t below(std::uint64_t count)
    {
        const auto words = philox(options_.seed, {choice_++, 0, 0, use(Stream::strategy, Purpose::search)});
        return ((static_cast<std::uint64_t>(words[0]) << 32U) | words[1]) % count;
    }

    /// `count` different ones of as many as `of` numbers. R. W. Floyd, in Bentley, Commun. ACM 30 (1987) 754-757.
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

    /// All seatings one move away where a batch holds them; else some, half of them with a change of the slowest block.
    std::vector<Seating> neighbours(const Seating& seating)
    {
        const SeatMoves moves(problem_.stock, seating);
        std::vector<Seating> list;
        const auto add = [&](const SeatMove& move) {
            list.push_back(seating);
            make_move(list.back(), move);
        };
        const bool few = moves.count() <= options_.batch;
        for (const std::uint64_t index : some(few || !problem_.guide ? options_.batch : options_.batch / 2, moves.count())) {
            add(moves.at(index));
        }
        if (!few && problem_.guide) {
            const std::size_t slowest = slowest_block(figures(seating));
            for (std::size_t i = 0; i < options_.batch - options_.batch / 2; ++i) {
                const SeatMove move = change_of(seating, slowest);
                if (move.kind != seating[move.seat]) {
                    add(move);
                }
            }
        }
        return list;
    }

    std::span<const int> block(const Seating& seating, std::size_t number) const
    {
        const auto size = static_cast<std::size_t>(problem_.block);
        return std::span(seating).subspan(number * size, size);
    }
    std::size_t block_of(int seat) const { return static_cast<std::size_t>(seat / problem_.block); }

    /// [block]: what the guide says of it.
    std::vector<double> figures(const Seating& seating) const
    {
        std::vector<double> result;
        for (std::size_t k = 0; k < seating.size() / problem_.block; ++k) {
            result.push_back(problem_.guide(block(seating, k)));
        }
        return result;
    }
    static std::size_t slowest_block(const std::vector<double>& figures)
    {
        return static_cast<std::size_t>(std::max_element(figures.begin(), figures.end()) - figures.begin());
    }

    /// A seat of the block with any other seat; of one kind they may be.
    SeatMove change_of(const Seating& seating, std::size_t number)
    {
        const int seat = static_cast<int>(number * problem_.block + below(problem_.block));
        const int other = static_cast<int>(below(seating.size()));
        return {seat, other, seating[other]};
    }

    /// Downhill by the guide: moves of all seats and of the slowest block by turns, which are kept unless they lose.
    Seating guided(Seating seating)
    {
        std::vector<double> figure = figures(seating);
        std::optional<SeatMoves> moves;
        for (std::size_t i = 0; i < options_.guided; ++i) {
            if (!moves) {
                moves.emplace(problem_.stock, seating);
            }
            if (moves->count() == 0) {
                break;
            }
            const SeatMove move = i % 2 == 0 ? moves->at(below(moves->count())) : change_of(seating, slowest_block(figure));
            if (move.kind == seating[move.seat]) {
                continue;
            }
            const int former = seating[move.seat];
            make_move(seating, move);
            const std::size_t a = block_of(move.seat);
            const std::size_t b = move.other < 0 ? a : block_of(move.other);
            const double first = problem_.guide(block(seating, a));
            const double second = a == b ? 0.0 : problem_.guide(block(seating, b));
            if (first + second <= figure[a] + (a == b ? 0.0 : figure[b])) {
                figure[a] = first;
                figure[b] = a == b ? first : second;
                moves.reset();
            } else {
                make_move(seating, {move.seat, move.other, former});
            }
        }
        return seating;
    }

    const SeatingProblem& problem_;
    const SeatingOptions& options_;
    Judge& judge_;
    SeatingResult& result_;
    std::uint32_t choice_ = 0;
};

}  // namespace

SeatMoves::SeatMoves(const std::vector<int>& stock, const Seating& seating)
    : by_kind_(seating.size()), first_(stock.size() + 1, 0), before_(stock.size() + 1, 0)
{
    for (const int kind : seating) {
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
    for (std::size_t seat = 0; seat < seating.size(); ++seat) {
        by_kind_[next[seating[seat]]++] = static_cast<int>(seat);
    }
    for (std::size_t kind = 0; kind < stock.size(); ++kind) {
        before_[kind + 1] = before_[kind] + seats(static_cast<int>(kind)) * moves_of_seat(static_cast<int>(kind));
    }
}

std::uint64_t SeatMoves::moves_of_seat(int kind) const
{
    const auto rank = static_cast<std::size_t>(rank_[kind]);
    const bool own_left = rank < left_.size() && left_[rank] == kind;
    return by_kind_.size() - static_cast<std::size_t>(first_[kind + 1]) + left_.size() - (own_left ? 1 : 0);
}

SeatMove SeatMoves::at(std::uint64_t index) const
{
    assert(index < count());
    const int kind = static_cast<int>(std::upper_bound(before_.begin(), before_.end(), index) - before_.begin()) - 1;
    const std::uint64_t inside = index - before_[kind];
    const int seat = by_kind_[static_cast<std::uint64_t>(first_[kind]) + inside / moves_of_seat(kind)];
    std::uint64_t to = inside % moves_of_seat(kind);
    const std::uint64_t above = by_kind_.size() - static_cast<std::size_t>(first_[kind + 1]);  // seats of kinds above
    if (to < above) {
        const std::uint64_t place = static_cast<std::uint64_t>(first_[kind + 1]) + to;
        const auto other = std::upper_bound(first_.begin(), first_.end(), static_cast<int>(place));
        return {seat, by_kind_[place], static_cast<int>(other - first_.begin()) - 1};
    }
    to -= above;
    const auto rank = static_cast<std::size_t>(rank_[kind]);
    const bool own_left = rank < left_.size() && left_[rank] == kind;
    return {seat, -1, left_[to + (own_left && to >= rank ? 1 : 0)]};
}

void make_move(Seating& seating, const SeatMove& move)
{
    if (move.other >= 0) {
        seating[move.other] = seating[move.seat];
    }
    seating[move.seat] = move.kind;
}

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
    Descent descent(problem, options, judge, result);
    descent.run(judge(starts).seating);
    for (std::size_t kick = 0; kick < options.kicks && !descent.over(); ++kick) {
        descent.run(descent.kicked(result.best));
    }
    result.cut = result.judged >= options.most_judged && result.least > problem.floor;
    return result;
}

}  // namespace prismopt
