#pragma once

/// Reports of the placement studies.

#include <string>
#include <vector>

namespace prismopt {

/// A row of a Markdown table.
std::string table_row(const std::vector<std::string>& cells);
/// The header of a Markdown table, with the line below it.
std::string table_head(const std::vector<std::string>& cells);

/// Read a scenario and write NAME.md and NAME.svg into the folder.
void placement_study(const std::string& scenario, const std::string& folder);
void buildings_study(const std::string& scenario, const std::string& folder);

}  // namespace prismopt
