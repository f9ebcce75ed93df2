#pragma once

/// Random numbers of a search strategy: the n-th number of a choice depends only on the seed,
/// n and the number of the choice.

#include "model/base/random.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace prismopt {

class SearchRandom {
public:
    SearchRandom(std::uint64_t seed, std::uint32_t choice) : seed_(seed), choice_(choice) {}

    double uniform();                      // in [0, 1)
    std::size_t below(std::size_t count);  // 0 ... count - 1; count > 0
    bool chance(double probability) { return uniform() < probability; }

private:
    std::uint32_t word();

    std::uint64_t seed_;
    std::uint32_t choice_;
    std::uint32_t used_ = 0;
    std::array<std::uint32_t, 4> words_{};
};

}  // namespace prismopt
