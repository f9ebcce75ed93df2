#pragma once

#include <string>

namespace prismopt {

/// Whose a process group is, by its description: "of a tensor-parallel group" for
/// "TENSOR_MODEL_PARALLEL_GROUP" (Megatron-LM) and "mesh_tp" (device meshes of torch.distributed), in words
/// of the table of kernel names; empty where the description does not say.
std::string process_group_words(const std::string& description);

}  // namespace prismopt
