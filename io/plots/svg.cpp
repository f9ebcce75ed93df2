#include "io/plots/svg.hpp"

#include <fmt/format.h>

namespace prismopt {

std::string escaped(const std::string& plain)
{
    std::string text;
    for (const char c : plain) {
        if (c == '<') {
            text += "&lt;";
        } else if (c == '&') {
            text += "&amp;";
        } else {
            text += c;
        }
    }
    return text;
}

std::string svg_document(double width, double height, const std::string& body)
{
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" "
               "font-family=\"sans-serif\" "
               "font-size=\"11\">\n",
               width, height) +
           body + "</svg>\n";
}

}  // namespace prismopt
