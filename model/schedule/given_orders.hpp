#pragma once

/// Task orders that come from outside, in terms of the network: which part of it, forward or which gradient, which microbatch.
/// Read and written by io/scenario/orders_file.hpp.

#include "model/schedule/program.hpp"

#include <string>
#include <variant>
#include <vector>

namespace prismopt {

struct PartTask {
    Pass pass = Pass::forward;  // a paired backward comes right after its forward
    int part = 0;               // of the network, as part_of_network() counts
    int microbatch = 0;

    bool operator==(const PartTask&) const = default;
};

using PartOrders = std::vector<std::vector<PartTask>>;  // [stage], each in the order it runs

/// As PyTorch's pipelining spells it: part, then F, B (both gradients), I (of the input) or W (of the weights), then microbatch, for
/// example 3F0.
std::string task_name(const PartTask& task);

/// The orders that a program runs.
PartOrders part_orders(const Program& program);

/// The orders on the chunks that the shape's schedule gives each stage, or why they cannot run there: a task that is missing, is
/// there twice or belongs to another stage, or tasks that wait for each other in a circle.
std::variant<TaskOrders, Infeasible> orders_on_stages(const ScheduleShape& shape, const PartOrders& orders);

}  // namespace prismopt
