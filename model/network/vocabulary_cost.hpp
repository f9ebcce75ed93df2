#pragma once

/// The parts of a network that have its vocabulary: embedding, and head with the loss.

#include "model/network/part_times.hpp"

namespace prismopt {

class VocabularyModel : private PartTimes {
public:
    using PartTimes::PartTimes;

    PartCost embedding() const;
    PartCost head() const;
};

}  // namespace prismopt
