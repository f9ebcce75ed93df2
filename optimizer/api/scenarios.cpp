#include "optimizer/api/scenarios.hpp"

#include "io/scenario/files/node_file.hpp"
#include "io/toml/toml.hpp"

namespace prismopt {

Scenario changed(const Scenario& scenario, const std::vector<KeyValue>& changes)
{
    std::string text = scenario.text;
    for (const KeyValue& change : changes) {
        text = with_value(text, scenario.path, change.key, change.value);
    }
    return parse_scenario(text, scenario.path);
}

Scenario started(const StarterChoice& choice)
{
    return parse_scenario(starter_scenario(choice), choice.name + ".toml");
}

Scenario on_nodes(Scenario scenario, const std::string& source)
{
    Cluster& cluster = scenario.cluster;
    cluster.node_factors = source == "drawn" ? drawn_node_factors(scenario.variability, cluster.nodes(),
                                                                  cluster.gpus_per_node(), scenario.seed)
                                             : read_node_factors(source, cluster);
    return scenario;
}

}  // namespace prismopt
