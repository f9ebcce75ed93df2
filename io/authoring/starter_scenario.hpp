#pragma once

/// A scenario to start from, with a comment on each line that a user may want to change.

#include <string>

namespace prismopt {

struct StarterChoice {
    std::string name = "my-study";
    std::string workload;      // of the catalog
    std::string accelerator;   // of the catalog
    std::string trainer = {};  // of trainers(): what plans are exported for; empty: any
    int gpus = 0;              // of the cluster
    int sequence = 4096;
    int global_batch = 0;  // sequences; 0: about four million tokens a step, as `gpus` can share
    double tokens = 0.0;   // to train on; 0: twenty for each parameter
};

/// Throws InputError for names that the catalog does not have, and for GPUs that do not fill nodes.
std::string starter_scenario(const StarterChoice& choice);

}  // namespace prismopt
