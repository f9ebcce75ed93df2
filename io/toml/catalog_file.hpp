#pragma once

/// Files of the program's catalog, model/catalog/*.toml.

#include "io/base/embedded_file.hpp"
#include "io/toml/toml.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// The files of model/catalog.
std::vector<EmbeddedFile> catalog_files();

/// CRC-64 of the names and texts of all files of the catalog, in hexadecimal.
std::string catalog_digest();

/// Returns the text of a file of the catalog. Throws InputError if the program does not contain it.
std::string catalog_text(const std::string& name);

/// Returns a TOML file of the catalog, which is parsed once. Throws InputError if
/// the program does not contain it.
const TomlFile& catalog_file(const std::string& name);

}  // namespace prismopt
