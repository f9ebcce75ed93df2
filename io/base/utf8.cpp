#include "io/base/utf8.hpp"

#include <nlohmann/json.hpp>

namespace prismopt {

std::string valid_utf8(std::string_view text)
{
    using nlohmann::json;
    const std::string quoted = json(std::string(text)).dump(-1, ' ', false, json::error_handler_t::replace);
    return json::parse(quoted).get<std::string>();
}

}  // namespace prismopt
