#pragma once

/// The two kinds of work that ranks exchange, and their results, as bytes. The same bytes go into the journal.

#include "model/predictor.hpp"
#include "model/random.hpp"
#include "optimizer/communicator.hpp"
#include "search/strategy.hpp"

#include <variant>

namespace prismopt {

/// Some draws of one point.
struct DrawBlock {
    std::uint64_t index = 0;
    DrawRange range;
    Purpose purpose = Purpose::search;
};

using WorkItem = std::variant<SweepRange, DrawBlock>;

Message encode(const WorkItem& item);
WorkItem decode_item(const Message& bytes);

Message encode(const PhaseDraws& draws);
PhaseDraws decode_draws(const Message& bytes);

Message encode(const Answer& answer);
Answer decode_answer(std::span<const std::byte> bytes);

}  // namespace prismopt
