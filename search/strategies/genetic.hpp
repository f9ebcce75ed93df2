#pragma once

/// Evolutionary search of nsga2 and nsga3, which differ in the selection of survivors and parents.

#include "search/components/moves.hpp"
#include "search/components/race.hpp"
#include "search/ranking.hpp"
#include "search/strategy.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <unordered_set>
#include <vector>

namespace prismopt {

struct GeneticOptions {
    std::size_t population = 24;  // small: parents improve quickly, and the front is kept separately
    std::size_t batch = 16;       // points drawn at once
    std::size_t lag = 2;          // batches in flight: batch b uses the results of batches up to b - lag
    std::size_t screened = 4;     // noise-free proposals per point drawn, if bounds are valid
    double elite = 0.2;  // probability per parent of taking any non-dominated point instead of the population
    double crossover = 0.9;  // probability per child
    // probability of not mutating a crossed child, in the first quarter of the tries for a new one
    double pure = 0.8;
    double shift = 0.25;  // otherwise, probability of moving a factor between two degrees instead of mutating
    std::size_t coarse_grid = 4096;  // maximum number of tuples of the grid whose front is the start
    std::size_t patience = 60;       // consecutive batches without gain before the search stops
    double gain = 1e-5;              // relative growth of the hypervolume that counts as a gain
};

/// Selection rule of an evolutionary search among points of equal feasibility.
struct Selection {
    /// Positions of the survivors, the best first.
    std::function<std::vector<std::size_t>(std::span<const Values>, std::size_t keep)> survivors;
    bool tournament = true;  // parents are the better of two; otherwise any survivor
};

/// Steady-state evolution with a fixed lag, so that ranks do not wait for the slowest of a generation and
/// results do not depend on timing.
///
/// Children are repaired to meet the rules of the space, and points that were already checked are
/// skipped. Each child is then bounded without noise: it is not drawn if the values of an evaluated
/// point dominate its bound, and among several proposals those with the best bounds are drawn first.
/// Feasible points rank before infeasible ones, and these by distance to feasibility. At the end,
/// successive halving determines the front.
class Genetic : public Strategy {
public:
    /// The space must outlive the search.
    Genetic(const Space& space, StudyGoal goal, Selection selection, GeneticOptions options);

    std::optional<std::vector<Request>> ask() final;
    void tell(std::span<const Answer> answers) final;
    Outcome outcome() const final;
    std::vector<std::uint64_t> front() const final;

private:
    struct Member {
        std::uint64_t index = 0;
        Point point;
        bool feasible = false;
        double miss = 0.0;  // distance to feasibility of an infeasible member
        Values bound;
        Values value;
    };
    struct Batch {
        std::vector<Member> proposed;
        std::size_t swept = 0;  // of proposed, answered
        std::vector<Member> drawn;
        std::size_t answered = 0;  // of drawn, answered
        bool draws_asked = false;
    };
    enum class Kind { sweep, draw };
    struct Awaited {
        Kind kind;
        std::size_t batch;
    };
    /// Non-dominated points among the drawn ones.
    struct KnownFront {
        std::vector<Point> points;
        std::vector<Values> values;

        void add(const Point& point, const Values& value);
        bool dominates_bound(const Values& bound) const;
    };
    /// Growth of the front.
    struct Gain {
        Values reference;  // of the hypervolume; from the first population
        double hypervolume = 0.0;
        std::size_t idle_batches = 0;  // consecutive, without gain
    };
    struct Counts {
        std::uint32_t children = 0;
        std::uint64_t drawn = 0;
        std::uint64_t feasible = 0;  // of known points, answered
        std::uint64_t excluded = 0;  // by their bounds
    };

    std::vector<Point> coarse_points() const;
    std::vector<Member> first_proposals();
    std::vector<Member> proposals();
    std::optional<Member> child(SearchRandom& random);
    bool add_if_new(const Point& point, std::vector<Member>& to);
    const Point& parent(SearchRandom& random) const;

    void advance();
    bool ask_sweeps();
    void ask_draws(std::size_t number);
    void add_sweep(const Answer& answer, Batch& batch);
    void add_draw(const Answer& answer, Batch& batch);
    bool may_propose() const;
    void choose_draws(Batch& batch);
    void merge(Batch& batch);
    void survive();
    void measure_gain();

    const Space& space_;
    StudyGoal goal_;
    Selection selection_;
    GeneticOptions options_;
    Moves moves_;
    bool bounds_hold_;

    std::unordered_set<std::uint64_t> known_;
    std::vector<Member> population_;  // the best first; feasible before infeasible
    std::vector<Member> reserve_;     // feasible, bounded, not drawn yet
    KnownFront front_;
    std::vector<Batch> batches_;   // merged ones are emptied
    std::size_t merged_ = 0;       // batches
    std::deque<Awaited> awaited_;  // in the order of the requests
    std::vector<Request> ready_;   // to be requested
    Counts counts_;
    Gain gain_;
    SearchEnd end_ = SearchEnd::none;  // none: the evolution continues
    Race race_;
    std::deque<PointRequest> climbing_;
};

}  // namespace prismopt
