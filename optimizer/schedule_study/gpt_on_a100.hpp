#pragma once

/// The jobs of the zero-bubble schedules' authors (Qi et al., arXiv 2401.10241, table 3): a GPT with sequences of 1,024 tokens,
/// one stage per A100. Assumes 200 Gb/s per GPU between nodes.

#include "io/scenario/scenario.hpp"

#include <string_view>

namespace prismopt {

struct GptOnA100 {
    int layers, hidden, heads;
    std::string_view attention;
    int global_batch;        // sequences
    std::string_view stack;  // a name of the catalog; empty: the bare accelerator
    int node;                // GPUs that NVLink joins
    int stages;
};

Scenario gpt_on_a100(const GptOnA100& job);

}  // namespace prismopt
