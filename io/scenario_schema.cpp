#include "io/scenario_schema.hpp"

#include "io/export/trainer.hpp"
#include "io/scenario.hpp"
#include "model/objective.hpp"
#include "search/strategy.hpp"

#include <nlohmann/json.hpp>

#include <sstream>
#include <vector>

namespace prismopt {

namespace {

using Json = nlohmann::json;

const Json integer{{"type", "integer"}};
const Json number{{"type", "number"}};
const Json boolean{{"type", "boolean"}};
const Json text{{"type", "string"}};
/// A number with its unit, such as "450 GB/s".
const Json quantity{{"type", "string"}, {"pattern", "[0-9]"}};

Json one_of(const std::vector<std::string>& names) { return {{"type", "string"}, {"enum", names}}; }
Json list_of(const Json& items) { return {{"type", "array"}, {"items", items}, {"minItems", 1}}; }

template <class Enum>
std::vector<std::string> names_of()
{
    std::vector<std::string> names;
    std::istringstream words(choices<Enum>());
    for (std::string name; words >> name;) {
        names.push_back(name.substr(0, name.find(',')));
    }
    return names;
}

template <class Enum>
Json axis_of()
{
    return list_of(one_of(names_of<Enum>()));
}

/// Keys that are not listed are errors, as they are to the reader.
Json table(Json properties, const std::vector<std::string>& required = {})
{
    Json schema{{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
    if (!required.empty()) {
        schema["required"] = required;
    }
    return schema;
}

/// The same kind of value for several keys.
Json all(const std::vector<std::string>& keys, const Json& kind)
{
    Json properties = Json::object();
    for (const std::string& key : keys) {
        properties[key] = kind;
    }
    return properties;
}

Json joined(Json a, const Json& b)
{
    a.update(b);
    return a;
}

Json workload()
{
    Json keys = joined(all({"layers", "hidden", "heads", "kv_heads", "feed_forward", "vocabulary", "head"}, integer),
                       all({"causal", "tied_embedding", "dropout"}, boolean));
    keys["model"] = one_of(catalog_workloads());
    keys["name"] = text;
    keys["activation"] = one_of({"gelu", "swiglu", "squared_relu"});
    keys["normalisation"] = one_of({"layer_norm", "rms_norm"});
    keys["attention"] = one_of({"plain", "flash"});
    keys["precision"] = one_of({"fp32", "tf32", "bf16", "fp8", "nvfp4"});
    keys["experts"] = table(joined(all({"count", "active", "feed_forward", "shared", "dense_layers"}, integer),
                                   all({"imbalance", "capacity"}, number)),
                            {"count", "active", "feed_forward"});
    const std::vector<std::string> latent{"query_rank", "key_value_rank", "rotary", "plain", "value"};
    keys["latent"] = table(all(latent, integer), latent);
    return table(keys);
}

Json phase()
{
    Json keys = joined(all({"sequence_length", "global_batch", "gpus", "tp", "cp", "pp", "v", "microbatch"}, integer),
                       all({"tokens"}, Json{{"type", Json::array({"number", "string"})}}));
    keys["schedule"] = one_of(names_of<Schedule>());
    keys["recompute"] = one_of(names_of<Recompute>());
    return table(keys, {"tokens", "sequence_length", "global_batch"});
}

/// Families have keys of their own, which the reader tells apart.
Json law()
{
    Json keys = joined(all({"shift", "degrees_of_freedom", "scale", "shape", "tail_probability", "tail_scale", "cv",
                            "slow_probability", "slow_excess", "cap"},
                           number),
                       all({"source"}, text));
    keys["family"] = one_of({"constant", "normal", "lognormal", "gamma", "weibull", "shifted-gamma", "student-t", "gev",
                             "pareto-tail", "mixture", "empirical"});
    keys["values"] = list_of(number);
    keys["core"] = Json{{"$ref", "#/definitions/law"}};
    keys["parts"] = list_of({{"type", "object"}});
    return table(keys, {"family"});
}

Json tier()
{
    Json keys = joined(joined(all({"name"}, text), all({"bandwidth", "latency", "aggregate"}, quantity)),
                       joined(all({"efficiency", "in_network", "point_to_point", "oversubscription", "loss"}, number),
                              all({"group"}, integer)));
    keys["link"] = one_of(catalog_links());
    keys["variability"] = Json{{"$ref", "#/definitions/law"}};
    return table(keys, {"name"});
}

Json accelerator_override()
{
    Json keys = joined(all({"peak_bf16", "peak_fp32", "peak_tf32", "peak_fp8", "peak_fp4", "memory", "memory_reserved",
                            "memory_bandwidth", "host_link", "host_memory_bandwidth", "power", "launch"},
                           quantity),
                       joined(all({"multiprocessors"}, integer), all({"model_error"}, number)));
    keys["efficiency"] = table(all({"gemm", "attention", "attention_backward", "memory", "gemm_low"}, number));
    return table(keys);
}

Json cluster()
{
    Json keys{{"accelerator", one_of(catalog_accelerators())},
              {"accelerator_override", accelerator_override()},
              {"stack", one_of(catalog_stacks())},
              {"gpus", integer},
              {"gpu_price", quantity},
              {"tier", list_of(tier())},
              {"flat_collectives", boolean},
              {"slow_nodes", list_of(table({{"node", integer}, {"factor", number}}, {"node", "factor"}))},
              {"name", text}};
    return table(keys, {"accelerator", "gpus", "tier"});
}

Json variability()
{
    const Json law_here{{"$ref", "#/definitions/law"}};
    Json keys =
        all({"common_step", "gpu", "node", "site", "common_compute", "common_communication", "stage", "microbatch", "operation"},
            law_here);
    keys["profile"] = one_of(catalog_variabilities());
    keys["residual"] = table(all({"gemm", "attention", "elementwise", "tp_collective", "p2p", "dp_collective"}, law_here));
    return table(keys);
}

Json reliability()
{
    Json cause = joined(joined(all({"name", "rate", "source"}, text), all({"restart", "detection", "repair"}, quantity)),
                        joined(all({"gap_cv", "repair_cv", "memory_kept"}, number), all({"planned"}, boolean)));
    cause["gap_nodes"] = integer;
    cause["gaps"] = one_of({"exponential", "gamma", "weibull", "constant"});
    Json keys = joined(all({"node_failure_rate", "restart", "checkpoint_interval", "checkpoint_write", "snapshot"}, text),
                       joined(all({"node_cv"}, number), all({"source"}, text)));
    keys["cause"] = list_of(table(cause, {"name", "rate"}));
    keys["checkpoint_mode"] = one_of({"blocking", "asynchronous"});
    keys["memory_checkpoints"] = table(all({"interval", "stall"}, quantity), {"interval"});
    keys["spares"] = Json{{"type", Json::array({"integer", "string"})}};
    keys["drift"] = table({{"cv", number}, {"time", quantity}}, {"cv", "time"});
    return table(keys, {"checkpoint_interval", "checkpoint_write"});
}

Json space()
{
    const Json integers = list_of(integer);
    Json keys = all({"tp", "cp", "ep", "etp", "pp", "v", "group", "microbatch", "recomputed_layers"}, integers);
    keys["gpus"] = Json{{"anyOf", {integers, table(all({"from", "to", "step"}, integer), {"from", "to", "step"})}}};
    keys["schedule"] = axis_of<Schedule>();
    keys["recompute"] = axis_of<Recompute>();
    keys["sharding"] = axis_of<Sharding>();
    keys["split"] = axis_of<LayerSplit>();
    keys["dp_overlap"] = axis_of<DataParallelOverlap>();
    keys["post_validation"] = axis_of<PostValidation>();
    keys["tp_overlap"] = axis_of<TensorParallelOverlap>();
    keys["context_exchange"] = axis_of<ContextExchange>();
    keys["offload"] = axis_of<Offload>();
    keys["order"] = axis_of<PlacementOrder>();
    keys["crossing"] = axis_of<Crossing>();
    keys["node_order"] = axis_of<NodeOrder>();
    keys["checkpoint_interval"] = list_of(quantity);
    keys["spares"] = list_of({{"type", Json::array({"integer", "string"})}});
    return table(keys, {"gpus"});
}

Json search()
{
    const Json rung = table(all({"fleets", "steps"}, integer), {"fleets", "steps"});
    Json keys = all({"max_evaluations", "replicas_simulated", "tune_points", "tune_evaluations", "tune_fleets"}, integer);
    keys["strategy"] = one_of(strategy_names());
    keys["runnable_by"] = one_of(trainer_names());
    keys["confidence"] = number;
    keys["rungs"] = list_of(rung);
    keys["confirm"] = rung;
    keys["gpu_price_limit"] = quantity;
    return table(keys);
}

Json objectives_section()
{
    std::vector<std::string> names;
    for (const Objective& objective : objectives()) {
        names.emplace_back(objective.name);
    }
    return table({{"deadline", quantity}, {"minimise", list_of(one_of(names))}}, {"minimise"});
}

Json knob()
{
    const Json values{{"type", Json::array({"integer", "string", "number"})}};
    return table({{"of", text},
                  {"tier", text},
                  {"range", list_of(values)},
                  {"levels", integer},
                  {"values", list_of(values)},
                  {"price", table({{"per", values}, {"cost", quantity}}, {"per", "cost"})}},
                 {"of"});
}

}  // namespace

std::string scenario_schema()
{
    Json power = joined(all({"board_share", "pue"}, number), all({"host", "carbon"}, quantity));
    power["profile"] = one_of(catalog_powers());
    Json schema = table({{"name", text},
                         {"seed", integer},
                         {"start", {{"type", "string"}, {"pattern", "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}}},
                         {"workload", workload()},
                         {"phase", list_of(phase())},
                         {"cluster", cluster()},
                         {"memory", table({{"headroom", number}}, {"headroom"})},
                         {"variability", variability()},
                         {"reliability", reliability()},
                         {"power", table(power)},
                         {"space", space()},
                         {"objectives", objectives_section()},
                         {"search", search()},
                         {"knob", list_of(knob())}},
                        {"name", "workload", "phase", "cluster", "variability", "reliability", "space", "objectives"});
    schema["$schema"] = "http://json-schema.org/draft-07/schema#";
    schema["title"] = "Scenario of prismopt";
    schema["definitions"] = {{"law", law()}};
    return schema.dump(1) + "\n";
}

}  // namespace prismopt
