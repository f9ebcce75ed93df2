#pragma once

/// Tables of the catalog's entries, for users who look for their machine or network.

#include "io/toml/catalog.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Kinds of entries that catalog_list() shows: "accelerators", "instances", "links", "workloads".
std::vector<std::string> listed_kinds();

/// A line for each entry: its name, what it is, and what its numbers rest on.
/// Throws InputError for another kind.
std::string catalog_list(const std::string& kind, const Catalog& catalog);

}  // namespace prismopt
