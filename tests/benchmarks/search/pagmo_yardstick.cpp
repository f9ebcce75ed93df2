#include "tests/benchmarks/search/pagmo_yardstick.hpp"

#include <pagmo/algorithm.hpp>
#include <pagmo/algorithms/nsga2.hpp>
#include <pagmo/population.hpp>
#include <pagmo/problem.hpp>

#include <cmath>

namespace prismopt::bench {

namespace {

constexpr double death_penalty = 1e30;

struct Labels {
    const YardstickProblem* problem = nullptr;

    pagmo::vector_double fitness(const pagmo::vector_double& x) const
    {
        std::vector<int> point;
        for (const double label : x) {
            point.push_back(static_cast<int>(std::lround(label)));
        }
        std::vector<double> values = problem->values(point);
        return values.empty() ? pagmo::vector_double(problem->objectives, death_penalty) : values;
    }
    std::pair<pagmo::vector_double, pagmo::vector_double> get_bounds() const
    {
        pagmo::vector_double high;
        for (const int labels : problem->labels) {
            high.push_back(labels - 1);
        }
        return {pagmo::vector_double(problem->labels.size(), 0.0), high};
    }
    pagmo::vector_double::size_type get_nobj() const { return problem->objectives; }
    pagmo::vector_double::size_type get_nix() const { return problem->labels.size(); }
};

}  // namespace

void run_pagmo_nsga2(const YardstickProblem& problem, unsigned population, unsigned seed,
                     std::uint64_t most_calls, const std::function<bool()>& enough)
{
    const double mutation = 1.0 / static_cast<double>(problem.labels.size());
    pagmo::algorithm algorithm{pagmo::nsga2(1U, 0.9, 10.0, mutation, 50.0, seed)};
    pagmo::population generation{pagmo::problem{Labels{&problem}}, population, seed};
    while (generation.get_problem().get_fevals() + population <= most_calls && !enough()) {
        generation = algorithm.evolve(generation);
    }
}

}  // namespace prismopt::bench
