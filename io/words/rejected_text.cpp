#include "io/words/rejected_text.hpp"

#include "io/base/control_characters.hpp"
#include "io/words/infeasible_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <exception>

namespace prismopt {

namespace {

using Json = nlohmann::ordered_json;

std::string name_in(const Json& json)
{
    auto text = json.get<std::string>();
    if (find_control(text) != std::string::npos) {
        throw std::invalid_argument("a name has control characters");
    }
    return text;
}

Fact fact_of(const Json& pair)
{
    const FactKey key = parse<FactKey>(pair.at(0).get<std::string>()).value();
    const Json& value = pair.at(1);
    if (value.is_string()) {
        return {key, name_in(value)};
    }
    return value.is_number_integer() ? Fact(key, value.get<std::int64_t>()) : Fact(key, value.get<double>());
}

std::string sentence(const NearestMiss& miss)
{
    return fmt::format("{} ({})", detail_text(miss.why), miss.plan);
}

}  // namespace

std::string facts_json(const NearestMiss& miss)
{
    Json facts = Json::array();
    for (const Fact& fact : miss.why.facts) {
        std::visit(
            [&](const auto& value) {
                facts.push_back(Json::array({name(fact.key), value}));
            },
            fact.value);
    }
    return Json{{"conflict", name(miss.why.conflict)}, {"plan", miss.plan}, {"facts", std::move(facts)}}
        .dump();
}

std::optional<NearestMiss> nearest_miss(const Rejected& rejected)
{
    if (!rejected.nearest.starts_with('{')) {
        return std::nullopt;
    }
    try {
        const Json json = Json::parse(rejected.nearest);
        NearestMiss miss{{.conflict = parse<Conflict>(json.at("conflict").get<std::string>()).value(),
                          .miss = rejected.miss},
                         name_in(json.at("plan"))};
        for (const Json& fact : json.at("facts")) {
            miss.why.facts.push_back(fact_of(fact));
        }
        detail_text(miss.why);  // has all facts of its sentence
        return miss;
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

std::string nearest_text(const Rejected& rejected)
{
    const std::optional<NearestMiss> miss = nearest_miss(rejected);
    return miss ? sentence(*miss) : rejected.nearest;
}

}  // namespace prismopt
