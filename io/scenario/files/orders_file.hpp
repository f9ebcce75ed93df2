#pragma once

/// Task orders as files: the tables of actions that PyTorch's pipelining reads and writes
/// (_PipelineScheduleRuntime, _load_csv and _dump_csv), and that torchtitan's
/// pipeline_parallel_schedule_csv names. One line per rank, with cells such as 0F0, 1B2, 0I0, 0W0 or
/// (0F4;3B1)OVERLAP_F_B; stages number the parts of the network.

#include "model/schedule/given_orders.hpp"

#include <string>

namespace prismopt {

/// Skips empty cells and the actions that PyTorch adds to a schedule (SEND_F, RECV_B, UNSHARD,
/// REDUCE_GRAD, ...): transfers and exchanges follow from the plan. Throws InputError, with line
/// and column, for any other cell.
ChunkOrders read_orders(const std::string& path);
/// The same from text already in memory (`path` is for messages).
ChunkOrders parse_orders(const std::string& text, const std::string& path);

std::string orders_csv(const ChunkOrders& orders);

}  // namespace prismopt
