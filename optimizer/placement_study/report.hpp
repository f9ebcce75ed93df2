#pragma once

/// What the studies of placement write: tables and pictures.

#include <string>
#include <vector>

namespace prismopt {

struct Curve {
    std::string label;
    std::vector<double> y;
};

/// A panel of curves over the same ticks.
struct Panel {
    std::string title;
    std::vector<std::string> ticks;
    std::vector<Curve> curves;
};

/// An SVG of panels side by side, with one legend each.
std::string picture(const std::vector<Panel>& panels);

/// A row of a table in Markdown.
std::string table_row(const std::vector<std::string>& cells);
/// Its head, with the line below it.
std::string table_head(const std::vector<std::string>& cells);

/// Throws std::runtime_error where it cannot be written.
void write_report(const std::string& path, const std::string& text);

/// Each reads a scenario and writes NAME.md and NAME.svg into the folder.
void placement_study(const std::string& scenario, const std::string& folder);
void buildings_study(const std::string& scenario, const std::string& folder);

}  // namespace prismopt
