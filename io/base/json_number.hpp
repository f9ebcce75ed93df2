#pragma once

#include <nlohmann/json.hpp>

#include <cmath>

namespace prismopt {

/// A number in JSON, which has no infinity and no NaN: these are null.
template <class Json = nlohmann::json>
Json json_number(double value)
{
    return std::isfinite(value) ? Json(value) : Json();
}

}  // namespace prismopt
