#pragma once

/// What all pictures share.

#include <string>

namespace prismopt {

/// Text as markup (SVG, HTML) holds it.
std::string escaped(const std::string& plain);

/// A picture of this size, in its own units.
std::string svg_document(double width, double height, const std::string& body);

}  // namespace prismopt
