#pragma once

/// Networks that jobs/capture_network.py wrote; docs/captured-networks.md describes the file.

#include "model/network/network.hpp"

#include <string>

namespace prismopt {

struct CapturedNetwork {
    std::string name;
    int tokens = 1;  // of a sample
    Network network;
};

/// Throws InputError, with the place in the file, for what such a file cannot hold. `path` is for messages.
CapturedNetwork parse_captured_network(const std::string& json, const std::string& path);

/// Whether the value of `[workload] captured` is the network itself, not the name of its file.
bool is_written_out(const std::string& captured);

/// The text of a scenario with the file that `[workload] captured` names written in its place, on one line: what is stored and hashed
/// depends on no other file. `path`: of the scenario, in whose folder the file is looked for.
std::string with_captured_network(const std::string& text, const std::string& path);

}  // namespace prismopt
