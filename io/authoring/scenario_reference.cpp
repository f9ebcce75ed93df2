#include "io/authoring/scenario_reference.hpp"

#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "io/scenario/sections/sections.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <deque>
#include <set>
#include <string_view>
#include <vector>

namespace prismopt {

namespace {

using Kind = ValueShape::Kind;

constexpr const char* preamble = R"(# Scenario reference

A scenario is a TOML file. Quantities carry their unit, as in `bandwidth = "450 GB/s"`; unknown keys are errors. This page is printed by
`prismopt init --reference` from the tables that read the file; `prismopt init --schema` prints them as a JSON schema for editors.
`jobs/scenarios/llama3-405b-16k.toml` is commented line by line, and `prismopt init --workload W --gpus N` writes a scenario to start from.

Durations are "10 min", "1 h", "2 day"; data sizes "80 GB", "80 GiB"; bandwidths "450 GB/s", "400 Gb/s"; compute rates "989 TFLOP/s"; prices
"2.50 USD/h"; failure rates "6.50 per 1000 node-days", "8.1e-4 per GPU-day", "0.87 per job-day"; power "700 W".
)";

std::string anchor(const std::string& title)
{
    std::string text;
    for (const char c : title) {
        if (c == ' ') {
            text += '-';
        } else if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-') {
            text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    return text;
}

std::string choice_text(const ValueShape& shape)
{
    const std::string names = fmt::format("`{}`", fmt::join(shape.names(), "`, `"));
    if (shape.sets) {
        return "list of sets from " + names;
    }
    return shape.list ? "list from " + names : names;
}

std::string shape_text(const ValueShape& shape)
{
    const std::string many = shape.list ? "list of " : "";
    switch (shape.kind) {
        case Kind::integer: return many + fmt::format("integer in {}", shape.range.interval());
        case Kind::number: return many + fmt::format("number in {}", shape.range.interval());
        case Kind::quantity: return many + std::string(name(shape.dimension));
        case Kind::boolean: return "true or false";
        case Kind::text: return many + "text";
        case Kind::date: return "date";
        case Kind::choice: return choice_text(shape);
        case Kind::section: break;
    }
    const std::string& title = shape.section().title();
    if (shape.by_name) {
        return fmt::format("by name: [{}](#{})", title, anchor(title));
    }
    return many + fmt::format("[{}](#{})", title, anchor(title));
}

std::string value_text(const KeyInfo& key)
{
    std::string text;
    for (const ValueShape& shape : key.shapes) {
        text += (text.empty() ? "" : "; or ") + shape_text(shape);
    }
    return text;
}

std::string usual_text(const KeyInfo& key)
{
    switch (key.need) {
        case Need::required: return "required";
        case Need::complete: return "required, unless taken from a catalog entry";
        case Need::study: return "required, except for measured runs";
        case Need::optional: break;
    }
    return key.usual.empty() ? "" : "`" + key.usual + "`";
}

/// For a cell of a table.
std::string cell(std::string_view text)
{
    std::string escaped;
    for (const char c : text) {
        escaped += c == '|' ? "\\|" : std::string(1, c);
    }
    return escaped;
}

std::string section_text(const SectionTable& section)
{
    std::string help = section.help();
    help.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(help.front())));
    std::string text = fmt::format("\n## {}\n\n{}.\n\n", section.title(), help) +
                       "| key | value | default | meaning | example |\n| --- | --- | --- | --- | --- |\n";
    for (const KeyInfo& key : section.keys()) {
        text += fmt::format("| `{}` | {} | {} | {} | `{}` |\n", key.key, value_text(key), usual_text(key),
                            cell(key.help), cell(key.example));
    }
    return text;
}

}  // namespace

std::string scenario_reference()
{
    std::string text = preamble;
    std::deque<const SectionTable*> open{&scenario_table(), &catalog_table()};
    std::set<std::string> seen;
    while (!open.empty()) {
        const SectionTable& section = *open.front();
        open.pop_front();
        if (!seen.insert(section.title()).second) {
            continue;
        }
        text += section_text(section);
        // What a section holds comes right behind it.
        std::vector<const SectionTable*> inner;
        for (const KeyInfo& key : section.keys()) {
            for (const ValueShape& shape : key.shapes) {
                if (shape.kind == Kind::section) {
                    inner.push_back(&shape.section());
                }
            }
        }
        open.insert(open.begin(), inner.begin(), inner.end());
    }
    return text;
}

}  // namespace prismopt
