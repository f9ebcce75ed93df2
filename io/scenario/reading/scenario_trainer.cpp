#include "io/scenario/reading/scenario_trainer.hpp"

#include "io/base/input_error.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/toml/nearest.hpp"
#include "io/trainers/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace prismopt {

namespace {

bool heads_search(const std::string& line)
{
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    std::string header;
    while (words >> word) {
        header += word;
    }
    return header == "[search]";
}

/// The text with a line behind the header of [search], or with such a table at its end.
std::string with_line(const std::string& text, const std::string& line)
{
    std::istringstream lines(text);
    std::string with;
    bool added = false;
    for (std::string each; std::getline(lines, each);) {
        with += each + "\n";
        if (!added && heads_search(each)) {
            with += line + "\n";
            added = true;
        }
    }
    return added ? with : with + "\n[search]\n" + line + "\n";
}

}  // namespace

Scenario with_trainer(const Scenario& scenario, const std::string& trainer)
{
    const std::vector<std::string> names = trainer_names();
    if (std::find(names.begin(), names.end(), trainer) == names.end()) {
        throw InputError(fmt::format("--runnable-by {} is unknown{}; choose from: {}", trainer,
                                     guess_of(trainer, names), listed(names)));
    }
    if (scenario.search.runnable_by == trainer) {
        return scenario;
    }
    if (!scenario.search.runnable_by.empty()) {
        throw InputError(fmt::format(
            "--runnable-by {}: {} has runnable_by = \"{}\" in [search]; change it there, or omit the option",
            trainer, scenario.path, scenario.search.runnable_by));
    }
    const std::string line = fmt::format("runnable_by = \"{}\"   # --runnable-by", trainer);
    try {
        Scenario restricted = parse_scenario(with_line(scenario.text, line), scenario.path);
        if (restricted.search.runnable_by == trainer) {
            return restricted;
        }
    } catch (const InputError&) {
        // [search] is written in another way, which the message below is for
    }
    throw InputError(fmt::format(
        "--runnable-by {}: {} has no line [search] to add it to; write runnable_by = \"{}\" there yourself",
        trainer, scenario.path, trainer));
}

}  // namespace prismopt
