#pragma once

/// Layouts of pipeline chunks in the notation of Megatron Core: "Et*3|(tt|)*29,m|L" (E embedding, t layer, m
/// multi-token prediction module, L loss head, | next chunk, *N repeats; commas are ignored). Chunks are in
/// the order of the network. Source: megatron/core/transformer/pipeline_parallel_layer_layout.py of
/// Megatron-LM at commit 000c4ac24f61.

#include "model/plan/layout.hpp"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace prismopt {

/// Returns the chunks, or an error message. `predictions`: multi-token prediction modules of the network,
/// which the model holds beside the loss head.
std::variant<std::vector<Chunk>, std::string> parse_layout(std::string_view text, int predictions = 0);

std::string layout_text(const std::vector<Chunk>& chunks, int predictions = 0);

}  // namespace prismopt
