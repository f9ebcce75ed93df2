#pragma once

/// Normal numbers of the posterior's draws, each from its own identity.

#include <cstddef>
#include <cstdint>

namespace prismopt {

/// What a normal number is of.
enum class PosteriorKind : std::uint32_t { constant, source, delta, repeat, memory };

double posterior_normal(std::uint64_t seed, std::size_t draw, PosteriorKind kind, std::size_t component);

}  // namespace prismopt
