#pragma once

/// What the studies of placement write.

#include <string>
#include <vector>

namespace prismopt {

/// A row of a table in Markdown.
std::string table_row(const std::vector<std::string>& cells);
/// Its head, with the line below it.
std::string table_head(const std::vector<std::string>& cells);

/// Each reads a scenario and writes NAME.md and NAME.svg into the folder.
void placement_study(const std::string& scenario, const std::string& folder);
void buildings_study(const std::string& scenario, const std::string& folder);

}  // namespace prismopt
