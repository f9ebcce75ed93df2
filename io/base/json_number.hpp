#pragma once

#include <nlohmann/json.hpp>

#include <cmath>
#include <string>

namespace prismopt {

/// A number in JSON, which has no infinity and no NaN: these are null.
template <class Json = nlohmann::json>
Json json_number(double value)
{
    return std::isfinite(value) ? Json(value) : Json();
}

/// A text in JSON; null if it is empty.
template <class Json = nlohmann::json>
Json json_text(const std::string& text)
{
    return text.empty() ? Json() : Json(text);
}

}  // namespace prismopt
