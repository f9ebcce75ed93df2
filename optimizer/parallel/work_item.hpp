#pragma once

/// The two kinds of work that ranks exchange, and their results, as bytes. The same bytes go into the journal.

#include "model/base/random.hpp"
#include "model/predictor.hpp"
#include "optimizer/parallel/communicator.hpp"
#include "search/strategy.hpp"

#include <variant>
#include <vector>

namespace prismopt {

/// Some draws of a few points, sampled together: those whose plans share a schedule share its random numbers.
struct DrawBlock {
    std::vector<std::uint64_t> points;
    DrawRange range;
    Purpose purpose = Purpose::search;
};

using WorkItem = std::variant<SweepRange, DrawBlock>;

Message encode(const WorkItem& item);
WorkItem decode_item(const Message& bytes);

/// By point, in the order of the block.
Message encode(const std::vector<PhaseDraws>& draws);
std::vector<PhaseDraws> decode_draws(const Message& bytes);

Message encode(const Answer& answer);
Answer decode_answer(std::span<const std::byte> bytes);

}  // namespace prismopt
