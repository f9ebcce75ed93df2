#pragma once

/// The catalog: entries of several kinds, each with a name. Those of the program are in
/// model/catalog/<kind>.toml; files of a user add their own, with the same keys.

#include "io/toml/toml.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// Kinds of entries that a user can add: "accelerators", ...
std::span<const std::string_view> catalog_kinds();

/// Whether reports and --design can take the name: it is one word.
bool is_word(const std::string& name);

/// Entries by kind and name. Files of a user have a section `[kind.name]` for each entry.
class Catalog {
public:
    /// The entries of the program alone.
    static const Catalog& built_in();

    /// The entries of the program, and those of the files `own`. Throws InputError for unknown kinds, for
    /// names that are taken, and for those of several words.
    explicit Catalog(std::vector<TomlFile> own);

    /// Names of the entries of this kind, those of the program first.
    std::vector<std::string> names(std::string_view kind) const;
    /// Names of the user's entries of this kind.
    std::vector<std::string> own_names(std::string_view kind) const;
    bool has(std::string_view kind, const std::string& name) const;
    bool is_own(std::string_view kind, const std::string& name) const;

    /// An entry; throws InputError with the nearest names. The catalog must outlive it.
    Table entry(std::string_view kind, const std::string& name) const;

    const std::vector<TomlFile>& own() const { return own_; }

private:
    std::vector<TomlFile> own_;
};

}  // namespace prismopt
