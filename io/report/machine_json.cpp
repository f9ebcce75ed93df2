#include "io/report/machine_json.hpp"

#include "io/base/json_number.hpp"
#include "io/report/machine_report.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <vector>

namespace prismopt {

namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson known_json(const Known& known)
{
    return {{"value", json_number<OrderedJson>(known.value)},
            {"bound", json_number<OrderedJson>(known.low)},
            {"limit", json_number<OrderedJson>(known.high)}};
}

OrderedJson cell_json(const MachineTable& table, const Known& regret, std::size_t machine,
                      std::size_t network)
{
    const MachineCell& cell = table.machines[machine].cells[network];
    const Estimate& confirmed = cell.confirmed;
    OrderedJson json{{"network", table.networks[network]}, {"settled", cell.settled}};
    json["least"] = known_json(cell.least);
    json["confirmed"] = {json_number<OrderedJson>(confirmed.value), json_number<OrderedJson>(confirmed.low),
                         json_number<OrderedJson>(confirmed.high)};
    json["regret"] = known_json(regret);
    json["point"] = std::isfinite(cell.least.value) ? OrderedJson(cell.point) : OrderedJson();
    return json;
}

OrderedJson machine_json(const MachineTable& table, const std::vector<Known>& all_regrets, std::size_t number)
{
    const Machine& machine = table.machines[number];
    OrderedJson json{{"name", machine.name},
                     {"gpu_price_usd_per_h", machine.gpu_price_usd_h},
                     {"on_front", machine.on_front}};
    json["weighted"] = known_json(machine.weighted);
    json["worst_regret"] = known_json(machine.regret);
    json["networks"] = OrderedJson::array();
    for (std::size_t n = 0; n < table.networks.size(); ++n) {
        json["networks"].push_back(
            cell_json(table, all_regrets[number * table.networks.size() + n], number, n));
    }
    return json;
}

}  // namespace

OrderedJson machines_json(const Results& results)
{
    if (!has_machines(results)) {
        return {};
    }
    const MachineTable& table = results.machines;
    OrderedJson json{{"objective", results.objectives.front().name},
                     {"units", results.objectives.front().units},
                     {"weights", table.by_share ? "shares" : "runs"}};
    json["networks"] = OrderedJson::array();
    for (std::size_t n = 0; n < table.networks.size(); ++n) {
        json["networks"].push_back({{"name", table.networks[n]}, {"weight", table.weights[n]}});
    }
    const std::vector<Known> all_regrets = regrets_of(table);
    json["machines"] = OrderedJson::array();
    for (const std::size_t number : machines_in_order(table)) {
        json["machines"].push_back(machine_json(table, all_regrets, number));
    }
    return json;
}

}  // namespace prismopt
