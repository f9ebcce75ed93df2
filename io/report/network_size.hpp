#pragma once

/// Size of a network: its parameters, and the operations of a token or sample.

#include "model/network/workload.hpp"

#include <string>

namespace prismopt {

struct NetworkSize {
    std::string name;
    double parameters = 0.0;
    double active = 0.0;  // that one token uses
    double trained = 0.0;
    double flops = 0.0;  // per unit, forward and backward if it is trained
    std::string unit;    // "token"; "sample" where the network has no vocabulary
    int sequence = 0;    // tokens
    WorkloadTask task = WorkloadTask::training;
};

/// `sequence`: tokens per sequence.
NetworkSize network_size(const Workload& workload, int sequence);

/// One line.
std::string network_text(const NetworkSize& size);

}  // namespace prismopt
