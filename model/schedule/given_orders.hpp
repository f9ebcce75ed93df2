#pragma once

/// Task orders given by the user, in terms of the network: part, forward or gradient, microbatch. Read and
/// written by io/scenario/files/orders_file.hpp.

#include "model/schedule/program.hpp"

#include <string>
#include <variant>
#include <vector>

namespace prismopt {

/// One pass of one microbatch over one part of the network.
struct ChunkTask {
    Pass pass = Pass::forward;  // a paired backward comes right after its forward
    int network_chunk = 0;      // of the network, numbered as by network_chunk_of()
    int microbatch = 0;

    bool operator==(const ChunkTask&) const = default;
};

using ChunkOrders = std::vector<std::vector<ChunkTask>>;  // [stage], each in execution order

/// Returns the name of a task in the notation of PyTorch's pipelining: part, then F, B (both gradients), I
/// (gradient of the input) or W (gradient of the weights), then microbatch, for example 3F0.
std::string task_name(const ChunkTask& task);

/// Returns the orders that a program runs.
ChunkOrders chunk_orders(const Program& program);

/// Returns the orders on the chunks that the shape's schedule gives each stage, or the reason why they cannot
/// run: a task that is missing, duplicate or of another stage, or tasks that deadlock.
std::variant<TaskOrders, Infeasible> orders_on_stages(const ScheduleShape& shape, const ChunkOrders& orders);

}  // namespace prismopt
