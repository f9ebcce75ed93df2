#pragma once

/// Parts of the reader of networks: layers made of blocks, and the older keys of
/// decoders whose layers are equal.

#include "io/scenario/sections/sections.hpp"
#include "model/network/transformer.hpp"

#include <optional>
#include <string_view>

namespace prismopt {

/// What a file says of a network: by the keys of a decoder whose layers are
/// equal, or by layers made of blocks.
struct NetworkReading {
    Workload workload;
    Transformer transformer;      // the same by the older keys
    bool has_transformer = true;  // false: the catalog's network has no such keys
    double imbalance = 0.0;       // of all experts; 0: that of each block
};

inline auto of(auto Workload::*member)
{
    return [member](NetworkReading & reading) -> auto& { return reading.workload.*member; };
}

inline auto of(auto Transformer::*member)
{
    return [member](NetworkReading & reading) -> auto& { return reading.transformer.*member; };
}

// Layers: read_layers.cpp.
const SectionTable& layer_table();
const SectionTable& run_table();         // of an element of `sequence`
const SectionTable& prediction_table();  // of a module of multi-token prediction
void read_layers(const Value& value, Workload& w);
void read_sequence(const Value& value, Workload& w);
void read_pattern(const Value& value, Workload& w);
/// Reads the layers of the prediction module, once those of the network are known.
void read_prediction(Table& network, Workload& w);
/// Refuses layers of the file that neither the sequence nor the prediction module has.
void refuse_unused_layers(Table& table, const Workload& w);

// Keys that blocks and sequences replace, for one release: older_keys.cpp.
const Fields<NetworkReading>& older_fields();
bool is_older_key(std::string_view key);
/// The first of them in the file, `but` one, or nothing. `now`: takes what to write in its place.
std::optional<Value> older_key(Table& table, std::string_view but = "", std::string_view* now = nullptr);
/// The network of the older keys, or a catalog's network cut to `layers`. `based`: on a network of the
/// catalog. `older`: some older keys are given.
Workload with_older_keys(Table& table, NetworkReading& reading, bool based, bool older);

}  // namespace prismopt
