#include "optimizer/program/scenario_log.hpp"

#include "io/scenario/scenario_notes.hpp"
#include "io/scenario/sections/software.hpp"
#include "io/scenario/variants.hpp"
#include "optimizer/program/log.hpp"

#include <utility>

namespace prismopt {

std::vector<std::string> notes_of(const Scenario& scenario)
{
    std::vector<std::string> notes = scenario_notes(scenario);
    if (std::string omitted = omitted_text(clusters(scenario), catalog_of(scenario)); !omitted.empty()) {
        notes.push_back(std::move(omitted));
    }
    return notes;
}

void log_notes(const Scenario& scenario)
{
    for (const std::string& note : notes_of(scenario)) {
        log_warning(note);
    }
}

}  // namespace prismopt
