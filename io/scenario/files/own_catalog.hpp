#pragma once

/// Entries of the catalog that a user adds: files that a scenario, or an option of a command, names.

#include "io/toml/catalog.hpp"

#include <memory>
#include <string>
#include <vector>

namespace prismopt {

/// The text of a scenario that depends on no other file.
struct WrittenOut {
    std::string text;
    int lines_before = 0;  // of the text, before those of the scenario's file
};

/// The text of a scenario with the content of the files that `catalog` names, and of `more` files. `path`: of
/// the scenario; the files that it names are relative to its folder. Throws InputError if one cannot be read.
WrittenOut with_catalog_files(const std::string& text, const std::string& path,
                              const std::vector<std::string>& more);

/// A file as a scenario contains it.
struct CatalogText {
    std::string name;
    std::string text;
};
/// The files in the text of a scenario. Throws InputError.
std::vector<CatalogText> written_files_of(const std::string& text);

/// The catalog of a scenario whose `catalog` is written out. Null: that of the program.
std::shared_ptr<const Catalog> written_catalog(Table& scenario);

/// The catalog with these files. Throws InputError if one cannot be read.
std::shared_ptr<const Catalog> catalog_with(const std::vector<std::string>& files);

}  // namespace prismopt
