#pragma once

/// Entries of the catalog, read by their tables of fields.

#include "io/toml/catalog.hpp"
#include "io/toml/fields.hpp"

#include <string>
#include <string_view>

namespace prismopt {

/// Reads an entry, with all its keys.
template <class Kind>
Kind read_entry(std::string_view kind, const std::string& name, const Fields<Kind>& fields,
                const Catalog& catalog = Catalog::built_in())
{
    Kind result;
    Table table = catalog.entry(kind, name);
    fields.read_whole(table, Keys::all, result);
    return result;
}

/// Reads an entry, with its name in it.
template <class Kind>
Kind named_entry(std::string_view kind, const std::string& name, const Fields<Kind>& fields,
                 const Catalog& catalog = Catalog::built_in())
{
    Kind result = read_entry(kind, name, fields, catalog);
    result.name = name;
    return result;
}

}  // namespace prismopt
