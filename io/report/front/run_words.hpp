#pragma once

/// How texts name a run: forward passes train nothing.

#include "model/network/workload.hpp"

#include <string_view>

namespace prismopt {

struct RunWords {
    std::string_view time;       // "training time"
    std::string_view verb;       // "Trains"
    std::string_view effective;  // share of productive time
};

constexpr RunWords run_words(WorkloadTask task)
{
    return trains(task)
               ? RunWords{.time = "training time", .verb = "Trains", .effective = "effective training time"}
               : RunWords{
                     .time = "run time", .verb = "Runs forward passes of", .effective = "productive time"};
}

}  // namespace prismopt
