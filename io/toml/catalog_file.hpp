#pragma once

/// Files of the built-in catalog, model/catalog/*.toml.

#include "io/base/embedded_file.hpp"
#include "io/toml/fields.hpp"
#include "io/toml/toml.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// The files of model/catalog.
std::vector<EmbeddedFile> catalog_files();

/// Returns the text of a file of the catalog. Throws InputError if the program does not contain it.
std::string catalog_text(const std::string& name);

/// Returns a TOML file of the catalog, which is parsed once. Throws InputError if the program does not contain it.
const TomlFile& catalog_file(const std::string& name);

/// Names of the entries of a file.
std::vector<std::string> catalog_names(const std::string& file_name);

/// An entry by its name; throws InputError with the nearest names.
Table catalog_entry(const std::string& file_name, const std::string& name);

/// Reads an entry, with all its keys.
template <class Kind>
Kind read_entry(const std::string& file_name, const std::string& name, const Fields<Kind>& fields)
{
    Kind result;
    Table table = catalog_entry(file_name, name);
    fields.read_whole(table, Keys::all, result);
    return result;
}

/// Reads an entry, with its name in it.
template <class Kind>
Kind named_entry(const std::string& file_name, const std::string& name, const Fields<Kind>& fields)
{
    Kind result = read_entry(file_name, name, fields);
    result.name = name;
    return result;
}

}  // namespace prismopt
