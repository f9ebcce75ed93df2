#include "io/sections.hpp"

#include <fmt/format.h>

namespace prismopt {

namespace {

constexpr Range gpus_range{"GPUs of the cluster", 1, 10'000'000, "16384"};
constexpr Range group_range{"GPUs that the tier joins", 1, 10'000'000, "8"};
constexpr Range multiprocessors_range{"streaming multiprocessors of a GPU", 1, 100'000, "132"};
constexpr Range efficiency_range{"the share of the peak that is reached", 0, 1, "0.8", Range::Ends::open_low};
constexpr Range error_range{"relative error of the mean model", 0, 1, "0.05", Range::Ends::open_high};
constexpr Range oversubscription_range{"how many times more bandwidth enters the tier below than leaves it", 1, 10'000, "7"};
constexpr Range loss_of_packets_range{"the share of packets that are lost", 0, 1, "1e-5", Range::Ends::open_high};
constexpr Range node_range{"number of a node", 0, 10'000'000, "3"};
constexpr Range node_factor_range{"how many times as long a node computes", 0.1, 100, "1.2"};
constexpr Range factor_range{"a factor on the constants of the machine", 0, 100, "0.9", Range::Ends::open_low};
constexpr Range gradient_range{"bytes of a gradient in its reduction", 1, 8, "4"};
constexpr Range loss_range{"bytes that the loss moves per logit", 0, 1000, "24"};
constexpr Range share_range{"the share of compute that a collective beside it takes", 0, 1, "0.1", Range::Ends::open_high};
constexpr std::string_view tier_example = "[[cluster.tier]] with name, link and group";

void read_efficiency(Table table, Keys keys, Efficiency& efficiency)
{
    if (const auto value = table.find("gemm", keys, "gemm = 0.8")) {
        efficiency.gemm = value->number(efficiency_range);
    }
    if (const auto value = table.find("attention", keys, "attention = 0.55")) {
        efficiency.attention = value->number(efficiency_range);
    }
    if (const auto value = table.find("attention_backward", keys, "attention_backward = 0.45")) {
        efficiency.attention_backward = value->number(efficiency_range);
    }
    if (const auto value = table.find("memory", keys, "memory = 0.8")) {
        efficiency.memory = value->number(efficiency_range);
    }
    if (const auto value = table.find("gemm_low")) {
        efficiency.gemm_low = value->number(efficiency_range);
    }
    table.refuse_unknown_keys();
}

/// The multiples of `unit` on both sides of `value`, in words.
std::string multiples_near(int value, int unit)
{
    const int below = value / unit * unit;
    return below > unit ? fmt::format("try {} or {}", below, below + unit) : fmt::format("try {}", 2 * unit);
}

/// Sets what the tier joins. `inner`: the tier inside it, if any.
void read_group(Table& table, bool last, const Value& cluster_gpus, int gpus, const NetworkTier* inner, NetworkTier& tier)
{
    const auto group = last ? table.find("group") : table.at("group", "group = 8 (GPUs; only the last tier may omit it)");
    tier.group_gpus = group ? group->count(group_range) : gpus;
    if (last && tier.group_gpus != gpus) {
        group->fail({"does not join the whole cluster",
                     fmt::format("the cluster has {} GPUs and the last tier joins them all", gpus),
                     fmt::format("remove it or write {}", gpus)});
    }
    if (inner && (tier.group_gpus % inner->group_gpus != 0 || tier.group_gpus <= inner->group_gpus)) {
        (group ? *group : cluster_gpus)
            .fail(
                {"does not nest",
                 fmt::format("needs a larger multiple of {}, the GPUs of tier \"{}\" inside it", inner->group_gpus, inner->name),
                 multiples_near(tier.group_gpus, inner->group_gpus)});
    }
}

/// What a tier has that joins buildings, campuses or regions.
void read_circuit(Table& table, bool first, NetworkTier& tier)
{
    if (const auto value = table.find("aggregate")) {
        tier.aggregate = value->quantity<BytesPerSecond>("25.6 Tb/s");
        if (first) {
            value->fail({"has nothing below it to share it", "the first tier joins GPUs, which have links of their own",
                         "give bandwidth only, or put a tier inside this one"});
        }
    }
    if (const auto value = table.find("loss")) {
        tier.loss = value->number(loss_of_packets_range);
    }
    if (const auto value = table.find("variability")) {
        tier.regime = read_law(*value, "scenario");
    }
}

std::vector<NetworkTier> read_tiers(const Value& list, const Value& cluster_gpus, int gpus)
{
    std::vector<NetworkTier> tiers;
    const std::vector<Value> elements = list.list(tier_example);
    for (std::size_t i = 0; i < elements.size(); ++i) {
        Table table = elements[i].table(tier_example);
        NetworkTier tier;
        const std::string name = table.at("name", "name = \"node\"").text("node");
        const auto link = table.find("link");
        if (link) {
            tier = catalog_link(link->choice(catalog_links(), "links of the catalog"));
        }
        tier.name = name;
        read_link_fields(table, link ? Keys::some : Keys::all, tier);
        read_group(table, i + 1 == elements.size(), cluster_gpus, gpus, tiers.empty() ? nullptr : &tiers.back(), tier);
        if (const auto value = table.find("oversubscription")) {
            tier.oversubscription = value->number(oversubscription_range);
        }
        read_circuit(table, i == 0, tier);
        table.refuse_unknown_keys();
        tiers.push_back(tier);
    }
    return tiers;
}

/// Nodes that are not listed have factor one.
std::vector<double> read_slow_nodes(const Value& list, const Cluster& cluster)
{
    constexpr std::string_view example = "[{ node = 3, factor = 1.2 }]";
    std::vector<double> factors(cluster.nodes(), 1.0);
    std::vector<bool> named(factors.size(), false);
    for (const Value& element : list.list(example)) {
        Table table = element.table("{ node = 3, factor = 1.2 }");
        const Value node = table.at("node", "node = 3");
        const int number = node.count(node_range);
        if (number >= cluster.nodes() || named[number]) {
            node.fail({number < cluster.nodes() ? "is listed twice" : "is no node of the cluster",
                       fmt::format("its {} nodes are numbered from 0", cluster.nodes()), "list each slow node once"});
        }
        named[number] = true;
        factors[number] = table.at("factor", "factor = 1.2").number(node_factor_range);
        table.refuse_unknown_keys();
    }
    return factors;
}

}  // namespace

void read_accelerator_fields(Table& table, Keys keys, Accelerator& accelerator)
{
    if (const auto value = table.find("peak_bf16", keys, "peak_bf16 = \"989.4 TFLOP/s\"")) {
        accelerator.peak_bf16 = value->quantity<FlopsPerSecond>("989.4 TFLOP/s");
    }
    for (const auto& [key, peak] : {std::pair{"peak_fp32", &accelerator.peak_fp32},
                                    {"peak_tf32", &accelerator.peak_tf32},
                                    {"peak_fp8", &accelerator.peak_fp8},
                                    {"peak_fp4", &accelerator.peak_fp4}}) {
        if (const auto value = table.find(key)) {
            *peak = value->quantity<FlopsPerSecond>("1978.9 TFLOP/s");
        }
    }
    if (const auto value = table.find("multiprocessors", keys, "multiprocessors = 132")) {
        accelerator.multiprocessors = value->count(multiprocessors_range);
    }
    if (const auto value = table.find("memory", keys, "memory = \"80 GiB\"")) {
        accelerator.memory = value->quantity<Bytes>("80 GiB");
    }
    const auto reserved = table.find("memory_reserved", keys, "memory_reserved = \"3 GiB\"");
    if (reserved) {
        accelerator.memory_reserved = reserved->quantity<Bytes>("3 GiB", Sign::zero_or_more);
    }
    if (const auto value = table.find("memory_bandwidth", keys, "memory_bandwidth = \"3.35 TB/s\"")) {
        accelerator.memory_bandwidth = value->quantity<BytesPerSecond>("3.35 TB/s");
    }
    for (const auto& [key, bandwidth] :
         {std::pair{"host_link", &accelerator.host_link}, {"host_memory_bandwidth", &accelerator.host_memory_bandwidth}}) {
        if (const auto value = table.find(key)) {
            *bandwidth = value->quantity<BytesPerSecond>("64 GB/s");
        }
    }
    if (const auto value = table.find("power", keys, "power = \"700 W\"")) {
        accelerator.power = value->quantity<Watts>("700 W");
    }
    if (const auto value = table.find("launch", keys, "launch = \"4 us\"")) {
        accelerator.launch = value->quantity<Seconds>("4 us", Sign::zero_or_more);
    }
    if (const auto value = table.find("model_error", keys, "model_error = 0.05")) {
        accelerator.model_error = value->number(error_range);
    }
    if (const auto value = table.find("efficiency", keys, "efficiency = {gemm = 0.8, ...}")) {
        read_efficiency(value->table("{gemm = 0.8}"), keys, accelerator.efficiency);
    }
    if (accelerator.memory_reserved >= accelerator.memory) {
        const Complaint complaint{"leaves no memory to the training", "memory_reserved must be less than memory",
                                  "lower memory_reserved or raise memory"};
        reserved ? reserved->fail(complaint) : table.fail(complaint);
    }
    table.refuse_unknown_keys();
}

void read_link_fields(Table& table, Keys keys, NetworkTier& tier)
{
    if (const auto value =
            table.find("bandwidth", keys, R"(link = "nvlink4", or bandwidth = "450 GB/s" with efficiency and latency)")) {
        tier.bandwidth = value->quantity<BytesPerSecond>("450 GB/s");
    }
    if (const auto value = table.find("efficiency", keys, "efficiency = 0.8")) {
        tier.efficiency = value->number(efficiency_range);
    }
    if (const auto value = table.find("in_network")) {
        tier.in_network = value->number(efficiency_range);
    }
    if (const auto value = table.find("point_to_point")) {
        tier.point_to_point = value->number(efficiency_range);
    }
    if (const auto value = table.find("latency", keys, "latency = \"3 us\"")) {
        tier.latency = value->quantity<Seconds>("3 us", Sign::zero_or_more);
    }
}

void read_stack_fields(Table& table, Keys keys, SoftwareStack& stack)
{
    for (const auto& [key, factor] : {std::pair{"gemm", &stack.gemm},
                                      {"attention", &stack.attention},
                                      {"memory", &stack.memory},
                                      {"routing", &stack.routing},
                                      {"network", &stack.network},
                                      {"messages", &stack.messages}}) {
        if (const auto value = table.find(key, keys, std::string(key) + " = 1.0")) {
            *factor = value->number(factor_range);
        }
    }
    if (const auto value = table.find("launch", keys, "launch = \"2 us\"")) {
        stack.launch = value->quantity<Seconds>("2 us", Sign::zero_or_more);
    }
    if (const auto value = table.find("sends_once")) {
        stack.sends_once = value->boolean();
    }
    if (const auto value = table.find("waits_for_chunks")) {
        stack.waits_for_chunks = value->boolean();
    }
    if (const auto value = table.find("loss_traffic")) {
        stack.loss_traffic = value->number(loss_range);
    }
    if (const auto value = table.find("host", keys, "host = \"2 us\"")) {
        stack.host = value->quantity<Seconds>("2 us", Sign::zero_or_more);
    }
    if (const auto value = table.find("step", keys, "step = \"10 ms\"")) {
        stack.step = value->quantity<Seconds>("10 ms", Sign::zero_or_more);
    }
    if (const auto value = table.find("gradient_bytes", keys, "gradient_bytes = 4")) {
        stack.gradient_bytes = value->number(gradient_range);
    }
    if (const auto value = table.find("communication_share", keys, "communication_share = 0.1")) {
        stack.communication_share = value->number(share_range);
    }
}

Cluster read_cluster(Table table)
{
    Cluster cluster;
    const Value accelerator = table.at("accelerator", "accelerator = \"h100-sxm\"");
    cluster.accelerator = catalog_accelerator(accelerator.choice(catalog_accelerators(), "accelerators of the catalog"));
    if (const auto changes = table.find("accelerator_override")) {
        Table fields = changes->table("{memory = \"96 GB\"}");
        read_accelerator_fields(fields, Keys::some, cluster.accelerator);
        cluster.accelerator.name += " (changed)";
    }
    if (const auto stack = table.find("stack")) {
        cluster.stack = catalog_stack(stack->choice(catalog_stacks(), "software stacks of the catalog"));
        cluster.accelerator = under(cluster.accelerator, cluster.stack);
    }
    const Value gpus = table.at("gpus", "gpus = 16384");
    cluster.gpus = gpus.count(gpus_range);
    const auto price = table.find("gpu_price");
    cluster.gpu_price = price ? price->quantity<DollarsPerSecond>("2.50 USD/h") : catalog_price(accelerator.text("h100-sxm"));
    cluster.tiers = read_tiers(table.at("tier", tier_example), gpus, cluster.gpus);
    for (NetworkTier& tier : cluster.tiers) {
        tier = under(tier, cluster.stack);
    }
    if (const auto flat = table.find("flat_collectives")) {
        cluster.flat_collectives = flat->boolean();
    }
    if (const auto list = table.find("slow_nodes")) {
        cluster.node_factors = read_slow_nodes(*list, cluster);
    }
    const auto name = table.find("name");
    cluster.name = name ? name->text("my-cluster") : fmt::format("{} x {}", cluster.gpus, cluster.accelerator.name);
    table.refuse_unknown_keys();
    return cluster;
}

}  // namespace prismopt
