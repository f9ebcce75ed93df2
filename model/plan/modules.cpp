#include "model/plan/modules.hpp"

#include <algorithm>

namespace prismopt {

namespace {

constexpr std::string_view default_name = "default";

}  // namespace

std::string text_of(const ModuleSet& modules)
{
    std::string text;
    for (const Named<Module>& row : names_of<Module>) {
        if (modules.has(row.value)) {
            text.append(text.empty() ? "" : "+").append(row.name);
        }
    }
    return text.empty() ? std::string(default_name) : text;
}

std::optional<ModuleSet> parse_modules(std::string_view text, std::span<const Module> choices)
{
    ModuleSet result;
    if (text == default_name) {
        return result;
    }
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find('+', at), text.size());
        const auto module = parse<Module>(text.substr(at, end - at));
        if (!module || std::find(choices.begin(), choices.end(), *module) == choices.end() ||
            result.has(*module)) {
            return std::nullopt;
        }
        result |= ModuleSet{*module};
        at = end + 1;
    }
    return result;
}

std::string names_of_modules(std::span<const Module> choices)
{
    std::string text;
    for (const Module module : choices) {
        text += (text.empty() ? "" : ", ") + std::string(name(module));
    }
    return text;
}

}  // namespace prismopt
