#pragma once

/// Helpers shared by all SVG pictures.

#include <string>

namespace prismopt {

/// Text escaped for SVG and HTML.
std::string escaped(const std::string& plain);

/// An SVG document of the given size, in user units.
std::string svg_document(double width, double height, const std::string& body);

}  // namespace prismopt
