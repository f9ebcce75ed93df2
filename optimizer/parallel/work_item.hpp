#pragma once

/// Work items and their results as bytes, for messages between ranks and for the journal.

#include "model/base/random.hpp"
#include "model/predictor.hpp"
#include "optimizer/parallel/communicator.hpp"
#include "search/strategy.hpp"

#include <variant>
#include <vector>

namespace prismopt {

/// A block of draws of several points, sampled together: plans that share a schedule share its random numbers.
struct DrawBlock {
    std::vector<std::uint64_t> points;
    DrawRange range;
    DrawSource source = {};
};

using WorkItem = std::variant<SweepRange, DrawBlock>;

Message encode(const WorkItem& item);
WorkItem decode_item(const Message& bytes);

/// Draws by point, in the order of the block.
Message encode(const std::vector<PhaseDraws>& draws);
std::vector<PhaseDraws> decode_draws(const Message& bytes);

Message encode(const Answer& answer);
Answer decode_answer(std::span<const std::byte> bytes);

}  // namespace prismopt
