#pragma once

/// Which function reads the fields of which class of a config.json.

#include "io/authoring/imported/architectures.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// A class of the transformers library (or of diffusers, mamba_ssm,
/// flash-linear-attention) that can be imported.
struct ModelClass {
    std::string_view name;
    std::string_view as;  // class whose fields and layers it has
    // names of that class's fields in its files: "hidden_size=d_model num_local_experts=ffn.experts"
    std::string_view fields = {};
    std::string_view note = {};  // what is omitted or assumed
};

/// All of them, in alphabetical order.
const std::vector<ModelClass>& model_classes();
/// nullptr: not known.
const ModelClass* class_named(std::string_view name);
/// The class of a `model_type`, whose name has the same letters and digits: "qwen3_vl_moe_text" of
/// Qwen3VLMoeForConditionalGeneration. nullptr: none.
const ModelClass* class_of_type(std::string_view type);

/// What a class has that no block describes; empty: nothing that is known here.
std::string_view undescribed_component(std::string_view name);

/// Reads the fields as those of the class `as`.
ImportedFields read_as(std::string_view as, ModelConfig& config);

}  // namespace prismopt
