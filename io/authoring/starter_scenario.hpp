#pragma once

/// Starter scenario with a comment on each line that a user may want to change.

#include "io/authoring/imported/imported_network.hpp"
#include "io/toml/catalog.hpp"

#include <optional>
#include <string>
#include <vector>

namespace prismopt {

struct StarterChoice {
    std::string name = "my-study";
    std::string workload;          // of the catalog, unless a network is imported
    std::string accelerator = {};  // of the catalog, unless an instance is named
    std::string instance = {};     // of the catalog
    int node_gpus = 0;             // GPUs per node; 0: as usual, or as the instance has
    std::string network = {};  // link of the catalog between nodes; empty: as usual, or as the instance has
    bool one_port = false;     // the GPUs of a node share one port of the network
    std::vector<std::string> catalog = {};  // files with entries of the user, as the scenario is to name them
    std::string trainer = {};               // of trainers(): target of exports; empty: any
    // "megatron-bridge" or "megatron-bridge:26.04"; empty: of the trainer, or the most plausible
    std::string software = {};
    int gpus = 0;      // of the cluster
    int sequence = 0;  // tokens; 0: the network's usual length
    // sequences; 0: as the network was trained, or about four million tokens per step, either divisible among
    // `gpus` or a part of them
    int global_batch = 0;
    // to train on; 0: 20 per parameter, or 100,000 steps of a network without a vocabulary
    double tokens = 0.0;
    std::string amount = {};                      // a line of [[phase]] instead of tokens: "steps = 500"
    std::vector<std::string> workload_keys = {};  // lines of [workload] beside `workload`
    std::optional<ImportedNetwork> imported = {};
    std::string price = {};                  // of a GPU-hour, with its unit; empty: the list price
    std::string electricity_price = {};      // with its unit; empty: the price of GPUs includes it
    std::string start = {};                  // first day of the training; empty: none
    std::vector<std::string> question = {};  // lines of [question]; empty: none is asked
};

/// `catalog`: with the entries of the files that the choice names. Throws InputError for names that are not
/// in it, and for chips that fill no whole slices of a torus.
std::string starter_scenario(const StarterChoice& given, const Catalog& catalog = Catalog::built_in());

}  // namespace prismopt
