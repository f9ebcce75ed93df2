#include "io/base/utf8.hpp"

#include "io/base/control_characters.hpp"

#include <nlohmann/json.hpp>

namespace prismopt {

std::string valid_utf8(std::string_view text)
{
    using nlohmann::json;
    const std::string quoted = json(std::string(text)).dump(-1, ' ', false, json::error_handler_t::replace);
    return json::parse(quoted).get<std::string>();
}

std::string plain_text(std::string_view text) { return escape_controls(valid_utf8(text)); }

}  // namespace prismopt
