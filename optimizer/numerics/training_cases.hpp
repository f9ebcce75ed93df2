#pragma once

/// Distance between the weights of a small network trained with and without a choice.

#include "model/numerics/training.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace prismopt {

/// A choice and what it is compared with.
struct TrainingPair {
    std::string name;
    std::string choice;     // name of a training_choices()
    std::string reference;  // the same
};
struct NamedChoice {
    std::string name;
    TrainingChoice choice;
};
/// The choices that the study trains, and the pairs that it compares.
std::vector<NamedChoice> training_choices();
std::vector<TrainingPair> training_pairs();

struct WeightDistance {
    int step = 0;
    double wasserstein = 0.0;  // relative to the root mean square of the reference's weights; mean over seeds
    double largest = 0.0;      // largest difference of a weight, relative to the same; mean over seeds
    double loss = 0.0;         // of the choice, in nats per token; mean over seeds
};
struct PairDistances {
    std::string name;
    std::vector<WeightDistance> at;
};

/// Distances at `states` evenly spaced steps. Seed s of `seeds` has its own data and initial weights.
std::vector<PairDistances> weight_distances(const TrainingShape& shape, int steps, int states, int seeds,
                                            std::uint64_t seed);

}  // namespace prismopt
