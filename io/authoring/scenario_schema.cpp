#include "io/authoring/scenario_schema.hpp"

#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/sections/sections.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace prismopt {

namespace {

using Json = nlohmann::json;
using Kind = ValueShape::Kind;

/// Schemas of sections that several keys share, or that hold themselves, by title.
class Definitions {
public:
    Json reference(const SectionTable& section)
    {
        std::string name = section.title();
        std::erase_if(name, [](char c) { return c == '[' || c == ']'; });
        std::erase_if(name, [](char c) { return c == '=' || c == '"'; });
        // The name becomes part of a URI.
        std::replace_if(
            name.begin(), name.end(), [](char c) { return c == ' ' || c == '.'; }, '_');
        if (named_.insert(name).second) {
            schemas_[name] = schema_of(section);
        }
        return {{"$ref", "#/definitions/" + name}};
    }
    /// Keys that are not listed are errors, as they are to the reader.
    Json schema_of(const SectionTable& section)
    {
        Json properties = Json::object();
        std::vector<std::string> required;
        for (const KeyInfo& key : section.keys()) {
            properties[key.key] = schema_of(key);
            if (key.required()) {
                required.push_back(key.key);
            }
        }
        Json schema{{"type", "object"},
                    {"description", section.help()},
                    {"properties", std::move(properties)},
                    {"additionalProperties", false}};
        if (!required.empty()) {
            schema["required"] = required;
        }
        return schema;
    }
    const Json& schemas() const { return schemas_; }

private:
    Json schema_of(const KeyInfo& key)
    {
        Json schema;
        const bool lists = std::all_of(key.shapes.begin(), key.shapes.end(),
                                       [](const ValueShape& shape) { return shape.list; });
        if (lists && key.shapes.size() > 1) {  // an array may mix them
            Json elements;
            for (const ValueShape& shape : key.shapes) {
                elements["anyOf"].push_back(schema_of_one(shape));
            }
            schema = {{"type", "array"}, {"items", elements}, {"minItems", 1}};
        } else if (key.shapes.size() == 1) {
            schema = schema_of(key.shapes.front());
        } else {
            for (const ValueShape& shape : key.shapes) {
                schema["anyOf"].push_back(schema_of(shape));
            }
        }
        if (schema.contains("$ref")) {
            schema = {{"allOf", Json::array({schema})}};  // beside a reference nothing else counts
        }
        std::string text = key.help;
        if (!key.usual.empty()) {
            text += "; default: " + key.usual;
        }
        schema["description"] = text + "; for example " + key.line();
        return schema;
    }

    Json schema_of(const ValueShape& shape)
    {
        const Json single = schema_of_one(shape);
        if (shape.by_name) {
            return {{"type", "object"}, {"additionalProperties", single}};
        }
        const Json element =
            shape.sets ? Json{{"type", "array"}, {"items", single}, {"uniqueItems", true}} : single;
        return shape.list ? Json{{"type", "array"}, {"items", element}, {"minItems", 1}} : element;
    }

    Json schema_of_one(const ValueShape& shape)
    {
        switch (shape.kind) {
            case Kind::integer: return bounded("integer", shape.range);
            case Kind::number: return bounded("number", shape.range);
            // with its unit, such as "450 GB/s"
            case Kind::quantity: return {{"type", "string"}, {"pattern", "[0-9]"}};
            case Kind::boolean: return {{"type", "boolean"}};
            case Kind::text: return {{"type", "string"}};
            case Kind::date: return {{"type", "string"}, {"pattern", "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}};
            case Kind::choice: return choice(shape);
            case Kind::section: break;
        }
        return reference(shape.section());
    }

    /// Editors suggest the names of an open choice, and accept others.
    static Json choice(const ValueShape& shape)
    {
        const Json known = {{"type", "string"}, {"enum", shape.names()}};
        return shape.open ? Json{{"anyOf", {known, {{"type", "string"}}}}} : known;
    }

    static Json bounded(const char* type, const Range& range)
    {
        const bool open_low = range.ends == Range::Ends::open_low;
        const bool open_high = range.ends == Range::Ends::open_high;
        return {{"type", type},
                {open_low ? "exclusiveMinimum" : "minimum", range.low},
                {open_high ? "exclusiveMaximum" : "maximum", range.high}};
    }

    std::set<std::string> named_;
    Json schemas_ = Json::object();
};

}  // namespace

std::string scenario_schema()
{
    Definitions definitions;
    Json schema = definitions.schema_of(scenario_table());
    schema["$schema"] = "http://json-schema.org/draft-07/schema#";
    schema["title"] = "prismopt scenario";
    schema["definitions"] = definitions.schemas();
    return schema.dump(1) + "\n";
}

}  // namespace prismopt
