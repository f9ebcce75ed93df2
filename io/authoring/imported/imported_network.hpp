#pragma once

/// Networks imported from the config.json of a model on the Hugging Face hub.

#include "model/network/workload.hpp"

#include <string>
#include <vector>

namespace prismopt {

struct ImportedNetwork {
    Workload workload;
    std::string architecture;                // class that the file names
    std::vector<std::string> assumptions;    // what the file does not say
    int tokens = 0;                          // usual length of a sequence; 0: not given
    std::vector<std::string> keys = {};      // further lines of [workload]
    std::string origin = "a config.json";    // what describes it
    std::vector<std::string> omitted = {};   // fields that may matter and are not described
    std::vector<std::string> warnings = {};  // of a count that the weights beside the file contradict
};

/// What a user says of a file whose class or names are not known here.
struct FieldNames {
    std::string model_class;  // read the file as one of this class; empty: as it says itself
    // "NAME=OTHER": the class's field NAME is called OTHER, or a.b within an object; or has this value
    std::vector<std::string> fields;
};

/// Names of the classes that can be imported, in alphabetical order.
std::vector<std::string> importable_architectures();

/// Reads a network from the text of a config.json. `path`: of the file, for messages and the network's name.
/// Throws InputError if the class is not known, or a field is missing or wrong.
ImportedNetwork imported_network(const std::string& text, const std::string& path,
                                 const FieldNames& names = {});

/// [workload] of a scenario with this network, its assumptions as comments.
std::string workload_text(const ImportedNetwork& network);

}  // namespace prismopt
