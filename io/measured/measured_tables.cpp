#include "io/measured/measured_tables.hpp"

#include "io/scenario/sections/catalog.hpp"
#include "io/toml/catalog_file.hpp"
#include "io/toml/toml.hpp"

namespace prismopt {

namespace {

constexpr Range node_range{"GPUs that the first link joins", 1, 1e6, "8"};

template <class Enum>
void read_enum(Table& table, const char* key, Enum& target)
{
    if (const auto value = table.find(key)) {
        const std::string text = value->text("none");
        const auto parsed = parse<Enum>(text);
        if (!parsed) {
            value->fail({"is unknown", "choose from " + choices<Enum>(), "choose one of these"});
        }
        target = *parsed;
    }
}

void read_flag(Table& table, const char* key, bool& target)
{
    if (const auto value = table.find(key)) {
        target = value->boolean();
    }
}

std::string text_of(Table& table, const char* key) { return table.at(key, std::string(key) + " = \"...\"").text("..."); }

TableMachine read_machine(Table table)
{
    TableMachine machine;
    if (const auto software = table.find("software")) {
        machine.software = software->text("26.06");
    }
    machine.accelerator = text_of(table, "accelerator");
    machine.stack = text_of(table, "stack");
    for (const Value& link : table.at("links", R"(links = ["nvlink3", "ib-hdr"])").list(R"(["nvlink3", "ib-hdr"])")) {
        machine.links.push_back(link.text("nvlink3"));
    }
    if (const auto node = table.find("node")) {
        machine.node = node->count(node_range);
    }
    if (const auto slices = table.find("slices")) {
        for (const Value& slice : slices->list("[[4, 4], [16, 16]]")) {
            std::vector<int>& shape = machine.slices.emplace_back();
            for (const Value& axis : slice.list("[16, 16]")) {
                shape.push_back(axis.count(node_range));
            }
        }
        machine.closed = table.at("closed", "closed = 16").count(node_range);
    }
    if (const auto cores = table.find("cores")) {
        machine.cores = cores->count(node_range);
    }
    table.refuse_unknown_keys();
    return machine;
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs read_pairs(Table table)
{
    Pairs pairs;
    for (const std::string& key : table.keys()) {
        pairs.emplace_back(key, table.find(key)->text("..."));
    }
    return pairs;
}

void read_kinds(Table& table, Transformer& workload)
{
    const auto is = [&table](const char* key, const char* text) {
        const auto value = table.find(key);
        return value && value->text(text) == text;
    };
    workload.attention = is("attention", "plain") ? AttentionKernel::plain : AttentionKernel::flash;
    workload.activation = is("activation", "swiglu") ? Activation::swiglu : Activation::gelu;
    workload.normalisation = is("normalisation", "rms_norm") ? Normalisation::rms_norm : Normalisation::layer_norm;
    read_flag(table, "tied_embedding", workload.tied_embedding);
    read_flag(table, "dropout", workload.dropout);
}

MeasuredTable read_table(const std::string& name, Table table)
{
    MeasuredTable result;
    result.name = name;
    result.source = text_of(table, "source");
    result.assumed = text_of(table, "assumed");
    if (const auto variability = table.find("variability")) {
        result.variability = variability->choice(catalog_variabilities(), "variability profiles in the catalog");
    }
    read_flag(table, "sweep", result.sweep);
    read_flag(table, "fitted", result.fitted);
    for (const Value& machine : table.at("machine", "[[table.machine]]").list("[[table.machine]]")) {
        result.machines.push_back(read_machine(machine.table("{accelerator = \"a100-sxm-80gb\", ...}")));
    }
    if (const auto fills = table.find("fill")) {
        for (const Value& element : fills->list("[[table.fill]]")) {
            Table fill = element.table(R"({column = "model", value = "GPT 1.7B", set = {...}})");
            const bool several = fill.find("when").has_value();
            result.fills.push_back({several ? read_pairs(fill.section("when", "columns and texts"))
                                            : Pairs{{text_of(fill, "column"), text_of(fill, "value")}},
                                    read_pairs(fill.section("set", "values"))});
            read_flag(fill, "replaces", result.fills.back().replaces);
            fill.refuse_unknown_keys();
        }
    }
    if (const auto skips = table.find("skip")) {
        for (const Value& element : skips->list("[[table.skip]]")) {
            Table skip = element.table(R"({column = "schedule", value = "ZB", reason = "..."})");
            result.skips.push_back({text_of(skip, "column"), text_of(skip, "value"), text_of(skip, "reason")});
            skip.refuse_unknown_keys();
        }
    }
    if (const auto models = table.find("models")) {
        result.models = read_pairs(models->table("{LLAMA3_8B = \"llama3-8b\"}"));
    }
    if (result.models.empty()) {
        table.at("activation", "activation = \"gelu\"");
    }
    result.own_shapes = table.find("activation").has_value();
    read_kinds(table, result.workload);
    ParallelPlan& plan = result.plan;
    plan.sharding = Sharding::none;
    read_enum(table, "sharding", plan.sharding);
    read_enum(table, "recompute", plan.recompute);
    read_enum(table, "split", plan.split);
    read_enum(table, "dp_overlap", plan.dp_overlap);
    read_enum(table, "context_exchange", plan.context_exchange);
    read_flag(table, "sequence_parallel", plan.sequence_parallel);
    read_enum(table, "tp_overlap", plan.tp_overlap);
    table.refuse_unknown_keys();
    return result;
}

}  // namespace

std::vector<MeasuredTable> measured_tables()
{
    std::vector<MeasuredTable> tables;
    const TomlFile& file = catalog_file("measured_tables.toml");
    Table all(file.root, file);
    for (const std::string& name : all.keys()) {
        tables.push_back(read_table(name, all.section(name, "a table")));
    }
    return tables;
}

}  // namespace prismopt
