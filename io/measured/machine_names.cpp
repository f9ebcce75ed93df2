#include "io/measured/machine_names.hpp"

#include "io/toml/catalog_file.hpp"
#include "io/toml/toml.hpp"
#include "model/base/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace prismopt {

namespace {

/// Accelerator by text.
std::map<std::string, std::string> read_machine_names()
{
    std::map<std::string, std::string> accelerators;
    const TomlFile& file = catalog_file("machine_names.toml");
    Table all(file.root, file);
    for (const std::string& accelerator : all.keys()) {
        for (const Value& text : all.find(accelerator)->list("[\"H100\"]")) {
            if (!accelerators.emplace(lower_case(text.text("H100")), accelerator).second) {
                text.fail({"is listed twice", "a text names one machine", "remove one of the two"});
            }
        }
    }
    return accelerators;
}

}  // namespace

std::string accelerator_named(const std::string& text)
{
    static const std::map<std::string, std::string> accelerators = read_machine_names();
    const auto found = accelerators.find(lower_case(text));
    return found == accelerators.end() ? "" : found->second;
}

}  // namespace prismopt
