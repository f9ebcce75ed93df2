#include "io/results/stored_scenario.hpp"

#include "io/scenario/reading/read_scenario.hpp"

namespace prismopt {

Scenario scenario_of(const StudyInfo& study)
{
    Scenario scenario = parse_scenario(study.scenario_text, study.scenario_path);
    scenario.seed = study.seed;
    if (!scenario.gives_order) {
        scenario.space.order = {study.default_order};
    }
    return scenario;
}

}  // namespace prismopt
