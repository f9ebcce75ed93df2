#pragma once

/// Networks captured by jobs/capture_network.py; docs/captured-networks.md describes the file.

#include "model/network/network.hpp"

#include <string>

namespace prismopt {

struct CapturedNetwork {
    std::string name;
    int tokens = 1;  // per sample
    Network network;
};

/// Throws InputError, with the place in the file, for invalid content. `path` is for messages.
CapturedNetwork parse_captured_network(const std::string& text, const std::string& path);

/// Whether the value of `[workload] captured` is the network itself rather than the name of its file.
bool is_written_out(const std::string& captured);

/// Text of a scenario with the content of the file named by `[workload] captured` inserted on one
/// line, so that the stored and hashed text does not depend on other files. `path`: of the scenario;
/// the file is relative to its folder.
std::string with_captured_network(const std::string& text, const std::string& path);

}  // namespace prismopt
