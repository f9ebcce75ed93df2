#pragma once

/// Families of the entries of the catalog, model/catalog/families.toml.

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace prismopt {

/// Entries that are near each other.
struct EntryFamily {
    std::string file;  // of the catalog
    std::string name;
    std::vector<std::string> entries;
    std::set<std::string> keys;  // of constants; empty: all that no family before it names
    // its entries share one constant each: releases of one program differ in nothing that it describes
    bool shared = false;
    /// What is published of the one constant that the entries share, in SI, and the deviation of its
    /// logarithm.
    struct Belief {
        double value = 0.0;
        double deviation = 0.0;
    };
    std::optional<Belief> belief{};  // none: near the mean of all families
};

/// Throws InputError for a file, an entry or a constant that the catalog does not have.
const std::vector<EntryFamily>& catalog_families();

}  // namespace prismopt
