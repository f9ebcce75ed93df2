#include "io/scenario/catalog_facts.hpp"
#include "io/scenario/files/node_file.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "io/scenario/sections/sections.hpp"
#include "io/scenario/sections/software.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

namespace prismopt {

namespace {

constexpr Range gpus_range{"GPUs of the cluster", 1, 10'000'000, "16384"};
constexpr Range group_range{"GPUs per group of the tier", 1, 10'000'000, "8"};
constexpr Range multiprocessors_range{"streaming multiprocessors of a GPU", 1, 100'000, "132"};
constexpr Range clock_range{"clock held in long matrix products over the clock of the peak rates", 0, 2,
                            "0.7", Range::Ends::open_low};
constexpr Range error_range{"relative error of the mean model", 0, 1, "0.05", Range::Ends::open_high};
constexpr Range oversubscription_range{
    "oversubscription ratio: downlink over uplink bandwidth of the tier below", 1, 10'000, "7"};
constexpr Range efficiency_range{"share of the bandwidth that rings of large collectives reach", 0, 1, "0.8",
                                 Range::Ends::open_low};
constexpr Range axis_range{"GPUs along an axis of a torus", 1, 1'000'000, "16"};
constexpr Range loss_of_packets_range{"packet loss rate", 0, 1, "1e-5", Range::Ends::open_high};
constexpr Range node_range{"node number", 0, 10'000'000, "3"};
constexpr Range node_factor_range{"compute time of the node relative to a nominal node", 0.1, 100, "1.2"};
constexpr Range gradient_range{"bytes per gradient element in its reduction", 1, 8, "4"};
constexpr Range loss_range{"memory traffic of the loss, in bytes per logit", 0, 1000, "24"};
constexpr Range share_range{"share of the compute rate that an overlapped collective takes", 0, 1, "0.1",
                            Range::Ends::open_high};
constexpr std::string_view own_accelerator =
    "describe your own: name the closest one and give the differences in accelerator_override "
    "(docs/accelerators.md), or write "
    "[accelerators.NAME] in a catalog file (docs/catalog.md)";
constexpr std::string_view tier_example = "[[cluster.tier]] with name, link and group";

constexpr std::string_view older_software = "stack";
constexpr std::string_view older_share = "gemm_low";
constexpr Range older_share_range{"share of the peak rates of 8-bit and 4-bit matrix products", 0, 1, "0.7",
                                  Range::Ends::open_low};

const Fields<Efficiency>& efficiency_fields()
{
    static const auto fields =
        Fields<Efficiency>("efficiency", "shares of the peak rates that kernels reach")
            .number("gemm", &Efficiency::gemm,
                    {"large matrix products: share of the peak compute rate", 0, 1, "0.8",
                     Range::Ends::open_low})
            .complete()
            .number("attention", &Efficiency::attention,
                    {"fused attention, forward pass: share of the peak compute rate", 0, 1, "0.55",
                     Range::Ends::open_low})
            .complete()
            .number("attention_backward", &Efficiency::attention_backward,
                    {"fused attention, backward pass: share of the peak compute rate", 0, 1, "0.45",
                     Range::Ends::open_low})
            .complete()
            .number("memory", &Efficiency::memory,
                    {"elementwise kernels: share of the memory bandwidth", 0, 1, "0.8",
                     Range::Ends::open_low})
            .complete()
            .number("gemm_fp8", &Efficiency::gemm_fp8,
                    {"8-bit matrix products with a scale for each tensor: share of their peak rate; default: "
                     "gemm",
                     0, 1, "0.7", Range::Ends::open_low})
            .number(
                "gemm_fp8_block", &Efficiency::gemm_fp8_block,
                {"8-bit matrix products with scales for blocks: share of their peak rate; default: gemm_fp8",
                 0, 1, "0.65", Range::Ends::open_low})
            .number("gemm_mxfp8", &Efficiency::gemm_mxfp8,
                    {"8-bit matrix products with a scale for 32 numbers (MXFP8): share of their peak rate; "
                     "default: 0.951 of "
                     "gemm_fp8",
                     0, 1, "0.65", Range::Ends::open_low})
            .number("gemm_nvfp4", &Efficiency::gemm_nvfp4,
                    {"4-bit matrix products: share of their peak rate; default: gemm_fp8", 0, 1, "0.45",
                     Range::Ends::open_low})
            .number("attention_latent", &Efficiency::attention_latent,
                    {"fused attention with keys and values of different sizes, forward pass: share of the "
                     "peak compute rate; "
                     "default: attention",
                     0, 1, "0.55", Range::Ends::open_low})
            .number("scan", &Efficiency::scan,
                    {"products of scans: share of the peak compute rate; default: that of 48 TFLOP/s", 0, 1,
                     "0.05", Range::Ends::open_low})
            .custom({std::string(older_share),
                     "deprecated, one share for gemm_fp8, gemm_fp8_block and gemm_nvfp4",
                     "0.7",
                     {{.kind = ValueShape::Kind::number, .range = older_share_range}}},
                    [](const Value& value, Efficiency& share, Keys) {
                        share.gemm_fp8 = value.number(older_share_range);
                        share.gemm_fp8_block = share.gemm_fp8;
                        share.gemm_mxfp8 = share.gemm_fp8;
                        share.gemm_nvfp4 = share.gemm_fp8;
                    })
            .number(
                "stream", &Efficiency::stream,
                {"operands of products and fused attention: share of the memory bandwidth; default: memory",
                 0, 1, "0.8", Range::Ends::open_low})
            .number("cast", &Efficiency::cast,
                    {"casts of operands to 8 and 4 bits: share of the memory bandwidth; default: memory", 0,
                     1, "0.6", Range::Ends::open_low});
    return fields;
}

/// The multiples of `unit` on both sides of `value`, in words.
std::string multiples_near(int value, int unit)
{
    const int below = value / unit * unit;
    return below > unit ? fmt::format("try {} or {}", below, below + unit) : fmt::format("try {}", 2 * unit);
}

/// What a tier joins. `inner`: the tier inside it, if any.
void check_group(Table& table, bool last, const Value& cluster_gpus, int gpus, const NetworkTier* inner,
                 NetworkTier& tier)
{
    const bool torus = tier.topology == Topology::torus;  // its group is the product of its shape
    const auto group =
        last || torus ? table.find(torus ? "shape" : "group")
                      : std::optional(table.at("group", "group = 8 (GPUs; only the last tier may omit it)"));
    if (!group) {
        tier.group_gpus = gpus;
    }
    if (last && tier.group_gpus != gpus) {
        group->fail({"does not span the whole cluster",
                     fmt::format("the last tier joins all {} GPUs of the cluster", gpus),
                     torus ? fmt::format("write a shape of {} GPUs, or add an outer tier", gpus)
                           : fmt::format("remove it or write {}", gpus)});
    }
    if (inner == nullptr) {
        return;
    }
    // The GPUs of a cluster need not fill its nodes, but a torus, whose links close rings, and
    // buildings, which share a circuit evenly.
    const bool whole_units = !last || inner->topology == Topology::torus || tier.circuit();
    const bool nests =
        tier.group_gpus > inner->group_gpus && (!whole_units || tier.group_gpus % inner->group_gpus == 0);
    if (!nests) {
        (group ? *group : cluster_gpus)
            .fail({fmt::format("of tier \"{}\" does not nest", tier.name),
                   fmt::format("needs a larger multiple of {}, the group size of the inner tier \"{}\"",
                               inner->group_gpus, inner->name),
                   multiples_near(tier.group_gpus, inner->group_gpus) +
                       "; a job may use fewer GPUs: gpus in [space]"});
    }
}

const Fields<NetworkTier>& tier_fields()
{
    static const auto fields =
        Fields<NetworkTier>("[[cluster.tier]]",
                            "a network tier, innermost first: the links that join groups of GPUs")
            .base("link", links_kind, catalog_link, "links in the catalog")
            .text("name", &NetworkTier::name, "node", "name of the tier")
            .required()
            .include(link_fields())
            .choice("topology", &NetworkTier::topology, "full_mesh",
                    "how the innermost tier joins its GPUs: by switches (switched), by a link between each "
                    "two, which share the "
                    "bandwidth "
                    "(full_mesh), or in a grid (torus), which has keys of its own")
            .integer("group", &NetworkTier::group_gpus, group_range)
            .number("oversubscription", &NetworkTier::oversubscription, oversubscription_range)
            .quantity("aggregate", &NetworkTier::aggregate, "25.6 Tb/s",
                      "bandwidth of the circuit between buildings, which all GPUs of a group of the tier "
                      "below share")
            .number("loss", &NetworkTier::loss, loss_of_packets_range)
            .custom({"variability",
                     "per-step factor of the tier's bandwidth",
                     std::string(distribution_example),
                     {distribution_shape()}},
                    [](const Value&, NetworkTier&, Keys) {
                    });  // of the scenario's variability: read_tier_variability()
    return fields;
}

/// A torus: its own keys, as switches, oversubscription and circuits do not apply to it.
const Fields<NetworkTier>& torus_fields()
{
    static const auto fields =
        Fields<NetworkTier>(
            "[[cluster.tier]] with topology = \"torus\"",
            "an innermost tier without switches: a torus or mesh, each GPU with links to its neighbours")
            .base("link", links_kind, catalog_link, "links in the catalog; bandwidth is that of one link")
            .custom({"topology",
                     "a grid of links",
                     in_quotes("torus"),
                     {choice_shape([] { return std::vector<std::string>{"torus"}; })},
                     Need::required},
                    [](const Value&, NetworkTier& tier, Keys) { tier.topology = Topology::torus; })
            .custom({"shape",
                     "GPUs along each axis; consecutive GPUs in placement lie along the first",
                     "[16, 16]",
                     {{.kind = ValueShape::Kind::integer, .range = axis_range, .list = true}},
                     Need::required},
                    [](const Value& value, NetworkTier& tier, Keys) {
                        for (const Value& length : value.list("[16, 16]")) {
                            tier.shape.push_back(length.count(axis_range));
                        }
                    })
            .custom({"wrap",
                     "list of true or false: for each axis, whether it wraps around (a ring)",
                     "[true, true]",
                     {{.kind = ValueShape::Kind::boolean, .list = true}},
                     Need::required},
                    [](const Value& value, NetworkTier& tier, Keys) {
                        for (const Value& closed : value.list("[true, true]")) {
                            tier.wrap.push_back(closed.boolean());
                        }
                    })
            .text("name", &NetworkTier::name, "pod", "name of the tier")
            .required()
            .quantity("link_bandwidth", &NetworkTier::bandwidth, "90 GB/s",
                      "bandwidth of one link in one direction")
            .complete()
            .number("efficiency", &NetworkTier::efficiency, efficiency_range)
            .complete()
            .quantity("latency", &NetworkTier::latency, "1 us", "latency of a hop to a neighbour",
                      Sign::zero_or_more)
            .complete()
            .integer("group", &NetworkTier::group_gpus, group_range)
            .custom({"variability",
                     "per-step factor of the tier's bandwidth",
                     std::string(distribution_example),
                     {distribution_shape()}},
                    [](const Value&, NetworkTier&, Keys) {});  // as of other tiers
    return fields;
}

/// The product of the shape is the group, and only the first tier can be a torus.
void check_torus(Table& table, bool first, NetworkTier& tier)
{
    if (!first) {
        table.find("topology")
            ->fail({"belongs to the innermost tier", "outer tiers join whole units of the tier inside",
                    "make it the first [[cluster.tier]]"});
    }
    if (tier.wrap.size() != tier.shape.size()) {
        table.find("wrap")->fail(
            {fmt::format("has {} values for {} axes", tier.wrap.size(), tier.shape.size()),
             "each axis of shape is a ring or a line", "give one value per axis"});
    }
    double product = 1.0;
    for (const int length : tier.shape) {
        product *= length;
    }
    if (product > group_range.high) {
        table.find("shape")->fail({"has too many GPUs",
                                   fmt::format("a tier joins at most {:g}", group_range.high),
                                   "give a smaller shape"});
    }
    const auto group = table.find("group");
    if (group && tier.group_gpus != static_cast<int>(product)) {
        group->fail({"is not the product of shape", fmt::format("the shape has {:g} GPUs", product),
                     fmt::format("remove it or write {:g}", product)});
    }
    tier.group_gpus = static_cast<int>(product);
}

bool is_torus(Table& table)
{
    const auto topology = table.find("topology");
    return topology && topology->choice(enum_names<Topology>(), "topologies") == name(Topology::torus);
}

/// Reads tiers up to the first whose unit holds the whole cluster; tiers outside it join nothing. A cluster
/// that is part of a node is given the node, so that its GPUs share what they share there; of an outer unit
/// it is the part in use. `gpus`: of the cluster.
std::vector<NetworkTier> read_tiers(const Value& list, const Value& cluster_gpus, int& gpus)
{
    std::vector<NetworkTier> tiers;
    bool whole = false;
    const std::vector<Value> elements = list.list(tier_example);
    for (std::size_t i = 0; i < elements.size(); ++i) {
        Table table = elements[i].table(tier_example);
        NetworkTier tier;
        if (is_torus(table)) {
            torus_fields().read_whole(table, Keys::all, tier);
            check_torus(table, i == 0, tier);
        } else {
            tier_fields().read_whole(table, Keys::all, tier);
            if (const auto topology = table.find("topology"); topology && i > 0) {
                topology->fail({"belongs to the innermost tier",
                                "outer tiers join whole units of the tier inside",
                                "remove it, or move it to the first [[cluster.tier]]"});
            }
        }
        if (whole) {
            continue;
        }
        const bool last = i + 1 == elements.size();
        whole = tier.topology != Topology::torus && tier.group_gpus >= gpus && (i == 0 || !last);
        if (whole && i == 0) {
            gpus = tier.group_gpus;
        } else if (whole) {
            tier.group_gpus = gpus;
        }
        check_group(table, whole || last, cluster_gpus, gpus, tiers.empty() ? nullptr : &tiers.back(), tier);
        if (const auto aggregate = table.find("aggregate"); aggregate && i == 0) {
            aggregate->fail({"does not apply to the first tier",
                             "it joins single GPUs, each with its own link",
                             "give bandwidth only, or add an inner tier"});
        }
        tiers.push_back(tier);
    }
    return tiers;
}

struct SlowNode {
    int node = 0;
    double factor = 1.0;
};

const Fields<SlowNode>& slow_node_fields()
{
    static const auto fields = Fields<SlowNode>("slow_nodes", "a known slow node")
                                   .integer("node", &SlowNode::node, node_range)
                                   .required()
                                   .number("factor", &SlowNode::factor, node_factor_range)
                                   .required();
    return fields;
}

std::vector<double> read_slow_nodes(const Value& list, const Cluster& cluster)
{
    constexpr std::string_view example = "[{ node = 3, factor = 1.2 }]";
    if (!cluster.whole_nodes()) {
        list.fail(
            {"does not apply to a node in part", partial_node_text(cluster), whole_nodes_remedy(cluster)});
    }
    std::vector<double> factors(cluster.nodes(), cluster.unlisted_factor());
    std::vector<bool> named(factors.size(), false);
    for (const Value& element : list.list(example)) {
        Table table = element.table("{ node = 3, factor = 1.2 }");
        SlowNode slow;
        slow_node_fields().read_whole(table, Keys::all, slow);
        if (slow.node >= cluster.nodes() || named[slow.node]) {
            table.find("node")->fail(
                {slow.node < cluster.nodes() ? "is listed twice" : "is not a node of the cluster",
                 fmt::format("its {} nodes are numbered from 0", cluster.nodes()),
                 "list each slow node once"});
        }
        named[slow.node] = true;
        factors[slow.node] = slow.factor;
    }
    return factors;
}

const Fields<WorkEnergy>& work_energy_fields()
{
    constexpr std::string_view by_peaks =
        "; default: as much power at their peak rate as 16-bit products have";
    static const auto fields =
        Fields<WorkEnergy>("energy", "energy of its work beyond waiting; default: from the board limit")
            .quantity("bf16", &WorkEnergy::bf16, "0.8 pJ/FLOP",
                      "16-bit products; default: what the board draws in training, at half its peak rate")
            .quantity("fp8", &WorkEnergy::fp8, "0.4 pJ/FLOP", fmt::format("8-bit products{}", by_peaks))
            .quantity("fp4", &WorkEnergy::fp4, "0.2 pJ/FLOP", fmt::format("4-bit products{}", by_peaks))
            .quantity("tf32", &WorkEnergy::tf32, "1.6 pJ/FLOP", fmt::format("TF32 products{}", by_peaks))
            .quantity("fp32", &WorkEnergy::fp32, "12 pJ/FLOP", fmt::format("32-bit products{}", by_peaks))
            .quantity("memory", &WorkEnergy::memory, "5 pJ/bit", "memory traffic; default: 5 pJ/bit");
    return fields;
}

}  // namespace

const Fields<Accelerator>& accelerator_fields()
{
    static const auto fields =
        Fields<Accelerator>("accelerator_override",
                            "parameters of the accelerator that differ from the catalog entry")
            .quantity("peak_bf16", &Accelerator::peak_bf16, "989.4 TFLOP/s",
                      "peak rate of dense 16-bit matrix products")
            .complete()
            .quantity("peak_fp32", &Accelerator::peak_fp32, "67 TFLOP/s",
                      "peak rate of dense 32-bit matrix products, if supported")
            .quantity("peak_tf32", &Accelerator::peak_tf32, "494.7 TFLOP/s",
                      "peak rate of dense TF32 matrix products, if supported")
            .quantity("peak_fp8", &Accelerator::peak_fp8, "1978.9 TFLOP/s",
                      "peak rate of dense 8-bit matrix products, if supported")
            .quantity("peak_fp4", &Accelerator::peak_fp4, "9000 TFLOP/s",
                      "peak rate of dense 4-bit matrix products, if supported")
            .number("sustained_clock", &Accelerator::sustained_clock, clock_range)
            .number("softmax_columns", &Accelerator::softmax_columns,
                    {"columns of a head whose products take as long as the softmax of their scores", 0, 1e4,
                     "120"})
            .integer("multiprocessors", &Accelerator::multiprocessors, multiprocessors_range)
            .complete()
            .quantity("memory", &Accelerator::memory, "80 GiB", "memory of a GPU")
            .complete()
            .quantity("memory_reserved", &Accelerator::memory_reserved, "3 GiB",
                      "memory unavailable to the training: context, communication buffers, fragmentation",
                      Sign::zero_or_more)
            .complete()
            .quantity("memory_bandwidth", &Accelerator::memory_bandwidth, "3.35 TB/s",
                      "memory bandwidth of a GPU")
            .quantity("host_link", &Accelerator::host_link, "64 GB/s",
                      "bandwidth of the link to the host, per GPU and direction, for offload")
            .quantity("host_memory_bandwidth", &Accelerator::host_memory_bandwidth, "64 GB/s",
                      "peak host memory bandwidth per GPU, for offload; updates reach half")
            .quantity("nvme_bandwidth", &Accelerator::nvme_bandwidth, "3 GB/s",
                      "what the drives of its node read or write, per GPU, for offload = nvme")
            .quantity("power", &Accelerator::power, "700 W", "power limit of the board")
            .nested("energy", &Accelerator::energy, work_energy_fields)
            .quantity("launch", &Accelerator::launch, "4 us", "launch gap between consecutive kernels",
                      Sign::zero_or_more)
            .complete()
            .number("model_error", &Accelerator::model_error, error_range)
            .complete()
            .nested("efficiency", &Accelerator::efficiency, efficiency_fields)
            .complete()
            .check([](Table& table, const Accelerator& accelerator) {
                if (accelerator.memory_reserved >= accelerator.memory) {
                    const Complaint complaint{"leaves no memory for the training",
                                              "memory_reserved must be less than memory",
                                              "lower memory_reserved or raise memory"};
                    const auto reserved = table.find("memory_reserved");
                    reserved ? reserved->fail(complaint) : table.fail(complaint);
                }
            });
    return fields;
}

const Fields<NetworkTier>& link_fields()
{
    static const auto fields =
        Fields<NetworkTier>("a link", "a network link, per GPU and direction")
            .quantity("bandwidth", &NetworkTier::bandwidth, "450 GB/s", "bandwidth per GPU and direction")
            .complete()
            .number("efficiency", &NetworkTier::efficiency, efficiency_range)
            .complete()
            .number("in_network", &NetworkTier::in_network,
                    {"half the bus bandwidth of all-reduces in the switches, over the bandwidth; default: no "
                     "sums in switches",
                     0, 1, "0.5", Range::Ends::open_low})
            .number("point_to_point", &NetworkTier::point_to_point,
                    {"share of the bandwidth that point-to-point messages reach; default: efficiency", 0, 1,
                     "0.8", Range::Ends::open_low})
            .number("all_to_all", &NetworkTier::all_to_all,
                    {"share of `efficiency` that an all-to-all between all GPUs reaches; default: 1 in "
                     "nodes, that of the "
                     "library between them",
                     0, 1, "0.6", Range::Ends::open_low})
            .quantity("energy", &NetworkTier::energy, "11 pJ/bit",
                      "energy per bit that could be sent, drawn at all times: both directions and all hops "
                      "of the tier; default: 11 "
                      "pJ/bit in nodes (5.5 in a full_mesh or torus), 112.5 pJ/bit between them. Of interest "
                      "where a study changes links")
            .choice("kind", &NetworkTier::kind, "network",
                    "whether the tier joins GPUs of a node or nodes; by-position: the first tier joins GPUs "
                    "of a node")
            .quantity("latency", &NetworkTier::latency, "3 us",
                      "latency of a hop of a ring with long messages", Sign::zero_or_more)
            .complete();
    return fields;
}

const Fields<CollectiveLibrary>& library_fields()
{
    const auto factor = [](std::string_view meaning) { return Range{meaning, 0, 100, "1.0"}; };
    static const auto fields =
        Fields<CollectiveLibrary>("a library",
                                  "what messages of a library of collectives cost beside their bytes")
            .quantity("start", &CollectiveLibrary::start, "10 us",
                      "launch of a collective and first exchange of flags", Sign::zero_or_more)
            .complete()
            .quantity("low_latency_start", &CollectiveLibrary::low_latency_start, "9 us",
                      "the same with the protocol for short messages", Sign::zero_or_more)
            .complete()
            .number("low_latency_in_nodes", &CollectiveLibrary::low_latency_in_nodes,
                    factor("share of a hop's latency inside nodes that this protocol has"))
            .complete()
            .number("low_latency_between_nodes", &CollectiveLibrary::low_latency_between_nodes,
                    factor("share of a hop's latency between nodes that this protocol has"))
            .complete()
            .number("low_latency_bandwidth", &CollectiveLibrary::low_latency_bandwidth,
                    {"share of the bandwidth that this protocol has", 0, 1, "0.2", Range::Ends::open_low})
            .complete()
            .quantity("in_network_start", &CollectiveLibrary::in_network_start, "30 us",
                      "start of sums in switches", Sign::zero_or_more)
            .complete()
            .integer("in_network_from", &CollectiveLibrary::in_network_from,
                     {"fewest members of a node that use sums in switches", 1, 1e6, "5"})
            .complete()
            .number("fill", &CollectiveLibrary::fill,
                    factor("share of the latency of two hops for which each chunk of a pipeline waits"))
            .complete()
            .flag("overlaps_levels", &CollectiveLibrary::overlaps_levels,
                  "whether trees pass chunks on between nodes while they sum others inside")
            .complete()
            .number("trees_between_nodes", &CollectiveLibrary::trees_between_nodes,
                    factor("bandwidth of trees between nodes over that of rings"))
            .complete()
            .number("all_to_all_between_nodes", &CollectiveLibrary::all_to_all_between_nodes,
                    factor("bandwidth of all-to-alls between nodes over that of rings"))
            .complete()
            .quantity("all_to_all_start", &CollectiveLibrary::all_to_all_start, "25 us",
                      "start of all-to-alls that leave the node", Sign::zero_or_more)
            .complete()
            .quantity("token_kernels", &CollectiveLibrary::token_kernels, "350 GB/s",
                      "most that kernels which send tokens once reach inside a node")
            .complete();
    return fields;
}

const Fields<SoftwareStack>& stack_fields()
{
    const auto factor = [](std::string_view meaning) {
        return Range{meaning, 0, 100, "1.0", Range::Ends::open_low};
    };
    const auto logit = [](std::string_view meaning) { return Range{meaning, 0, 100, "12"}; };
    const auto rule = [](auto member) {
        return [member](SoftwareStack & stack) -> auto& { return stack.holds.*member; };
    };
    static const auto fields =
        Fields<SoftwareStack>("a software stack",
                              "how a framework changes the constants of accelerator and network")
            .number("gemm", &SoftwareStack::gemm, factor("factor on the efficiency of matrix products"))
            .complete()
            .number("attention", &SoftwareStack::attention, factor("factor on the efficiency of attention"))
            .complete()
            .number("memory", &SoftwareStack::memory,
                    factor("factor on the efficiency of elementwise kernels"))
            .complete()
            .number("routing", &SoftwareStack::routing,
                    factor("factor on the memory traffic of routing tokens to experts"))
            .complete()
            .number("network", &SoftwareStack::network, factor("factor on the efficiency of links"))
            .complete()
            .number("messages", &SoftwareStack::messages,
                    factor("number of collectives that gather the parameters of a layer"))
            .complete()
            .quantity("launch", &SoftwareStack::launch, "2 us", "addition to the launch gap between kernels",
                      Sign::zero_or_more)
            .complete()
            .choice("fp8", &SoftwareStack::fp8, "fp8-current",
                    "kind of 8 bits that precision = \"fp8\" means")
            .text("collectives", &SoftwareStack::collectives, "nccl-2-17",
                  "library of collectives of its containers")
            .flag("sends_once", &SoftwareStack::sends_once,
                  "whether a token is sent only once to each node, and there to each GPU, that has experts "
                  "for it (DeepEP)")
            .number("dispatch_bytes", &SoftwareStack::dispatch_bytes,
                    {"bytes per element of tokens sent to experts with precision fp8 or nvfp4", 0.5, 2.0,
                     "1"})
            .flag("waits_for_chunks", &SoftwareStack::waits_for_chunks,
                  "whether a stage of an interleaved schedule waits for the transfers of each chunk")
            .number("loss_traffic", &SoftwareStack::loss_traffic, loss_range)
            .quantity("host", &SoftwareStack::host, "50 us",
                      "CPU time per kernel that an operator called from Python launches", Sign::zero_or_more)
            .complete()
            .quantity("host_native", &SoftwareStack::host_native, "5 us",
                      "CPU time per kernel of those that one operator launches back to back from C++, as for "
                      "experts one by one; "
                      "default: host",
                      Sign::zero_or_more)
            .flag("grouped_experts", &SoftwareStack::grouped_experts,
                  "whether one kernel multiplies all experts of a GPU, and one casts their operands, rather "
                  "than one for each")
            .flag("fused_experts", &SoftwareStack::fused_experts,
                  "whether the kernels of gated experts' products hold their activation and its casts, with "
                  "mxfp8 in CUDA graphs "
                  "of whole iterations")
            .quantity("step", &SoftwareStack::step, "10 ms",
                      "time per step outside the pipeline schedule: data, loss, logging", Sign::zero_or_more)
            .complete()
            .number("gradient_bytes", &SoftwareStack::gradient_bytes, gradient_range)
            .complete()
            .number("communication_share", &SoftwareStack::communication_share, share_range)
            .complete()
            .number("loss_saved", rule(&MemoryRules::loss_saved),
                    logit("bytes per logit saved from the forward to the backward pass of the loss"))
            .number("loss_peak", rule(&MemoryRules::loss_peak),
                    logit("bytes per logit in use at the most in the loss"))
            .number("loss_peak_divided", rule(&MemoryRules::loss_peak_divided),
                    logit("the same where tensor parallelism divides the vocabulary"))
            .number("loss_cached", rule(&MemoryRules::loss_cached),
                    logit("bytes per logit in freed blocks of the loss, which the allocator keeps as long as "
                          "there is room"))
            .flag("gradient_buffers", rule(&MemoryRules::gradient_buffers),
                  "whether gradients have memory throughout a step, rather than from when they are computed")
            .flag("layer_gradients", rule(&MemoryRules::layer_gradients),
                  "whether divided gradients of a layer are whole while they are reduced")
            .flag("only_masters", rule(&MemoryRules::only_masters),
                  "whether divided parameters are stored as their master copy only, and cast as they are "
                  "gathered")
            .choice("whole_gradients", rule(&MemoryRules::whole_gradients), "pipelines",
                    "where divided gradients are whole until the last microbatch: never, in pipelines, or "
                    "wherever microbatches "
                    "are accumulated")
            .number("update_copies", rule(&MemoryRules::update_copies),
                    {"temporaries of an update of AdamW, in copies of one moment", 0, 10, "1"})
            .number("fragmentation", rule(&MemoryRules::fragmentation),
                    {"memory that the allocator holds beyond what is allocated on a full accelerator, over "
                     "what is allocated",
                     0, 2, "0.05"})
            .number("cached", rule(&MemoryRules::cached),
                    {"freed blocks that the allocator keeps as long as there is room, over what is "
                     "allocated: in measured peaks, "
                     "not needed to fit",
                     0, 2, "0.1"})
            .flag("saves_operands", rule(&MemoryRules::saves_operands),
                  "whether inputs of products are saved in the precision of the product, rather than in 16 "
                  "bits")
            .flag("dummy_gradients", rule(&MemoryRules::dummy_gradients),
                  "whether a 16-bit tensor of each shape of weights stays in memory, which stands for "
                  "gradients added in place")
            .check([](Table& table, const SoftwareStack& stack) {
                if (stack.fp8 == Precision::fp8 || !has_8_bits(stack.fp8)) {
                    table.find("fp8")->fail(
                        {"is no kind of 8 bits", "it is what precision = \"fp8\" means",
                         R"(write "fp8-delayed", "fp8-current", "fp8-blockwise" or "mxfp8")"});
                }
            });
    return fields;
}

namespace {

const Fields<Cluster>& cluster_fields()
{
    const ValueShape tiers{.kind = ValueShape::Kind::section,
                           .section = []() -> const SectionTable& { return tier_fields(); },
                           .list = true};
    const ValueShape tori{.kind = ValueShape::Kind::section,
                          .section = []() -> const SectionTable& { return torus_fields(); },
                          .list = true};
    const ValueShape nodes{.kind = ValueShape::Kind::section,
                           .section = []() -> const SectionTable& { return slow_node_fields(); },
                           .list = true};
    const auto later = [](const Value&, Cluster&, Keys) {};  // depends on others: read_cluster()
    static const auto fields =
        Fields<Cluster>("[cluster]", "the machine: accelerator, number of GPUs, network")
            .custom({"accelerator",
                     "accelerator from the catalog",
                     in_quotes("h100-sxm"),
                     {entry_shape(accelerators_kind)}},
                    [](const Value& value, Cluster& cluster, Keys) {
                        const Catalog& catalog = value.catalog();
                        const std::vector<std::string> names = catalog.names(accelerators_kind);
                        cluster.accelerator = catalog_accelerator(
                            value.choice(names, "accelerators in the catalog", own_accelerator), catalog);
                    })
            .required()
            .custom({"accelerator_override",
                     accelerator_fields().help(),
                     "{ memory = \"96 GB\" }",
                     {{.kind = ValueShape::Kind::section,
                       .section = []() -> const SectionTable& { return accelerator_fields(); }}}},
                    [](const Value& value, Cluster& cluster, Keys) {
                        Table changes = value.table("{ memory = \"96 GB\" }");
                        const Accelerator of_catalog = cluster.accelerator;
                        accelerator_fields().read_whole(changes, Keys::some, cluster.accelerator);
                        cluster.accelerator.name += cluster.accelerator == of_catalog ? "" : " (changed)";
                    })
            .custom({"software",
                     "what trains on this cluster, if not that of [software]",
                     "{ name = \"maxtext\" }",
                     {{.kind = ValueShape::Kind::section,
                       .section = []() -> const SectionTable& { return software_choice_fields(); }}}},
                    later)
            .custom({std::string(older_software),
                     "deprecated: constants of a software stack; write [software] instead",
                     in_quotes("megatron-lm"),
                     {entry_shape(stacks_kind)}},
                    later)
            .custom({"learned",
                     "file with the update from step times measured on this cluster, by prismopt learn "
                     "--out; relative to "
                     "the scenario",
                     in_quotes("learned.toml"),
                     {{.kind = ValueShape::Kind::text}}},
                    later)
            .integer("gpus", &Cluster::gpus, gpus_range)
            .required()
            .custom({"host_memory",
                     "memory of a host, which its GPUs share, for offload; default: no limit",
                     in_quotes("2048 GiB"),
                     {{.kind = ValueShape::Kind::quantity, .dimension = Dimension::data}}},
                    [](const Value& value, Cluster& cluster, Keys) {
                        // So far that of all its GPUs.
                        cluster.accelerator.host_memory = value.quantity<Bytes>("2048 GiB");
                    })
            .quantity("gpu_price", &Cluster::gpu_price, "2.50 USD/h",
                      "price per GPU-hour; default: the accelerator's list price")
            .custom(
                {"tier", tier_fields().help(), "[[cluster.tier]] with name, link and group", {tiers, tori}},
                later)
            .required()
            .custom({"collectives",
                     "library of collectives and its release; default: that of the stack, or nccl",
                     in_quotes("nccl-2-17"),
                     {entry_shape(libraries_kind)}},
                    [](const Value& value, Cluster& cluster, Keys) {
                        const Catalog& catalog = value.catalog();
                        const std::vector<std::string> names = catalog.names(libraries_kind);
                        cluster.library =
                            catalog_library(value.choice(names, "libraries in the catalog"), catalog);
                    })
            .flag("flat_collectives", &Cluster::flat_collectives,
                  "whether collectives ignore the tier hierarchy")
            .custom({"slow_nodes", "known slow nodes", "[{ node = 3, factor = 1.2 }]", {nodes}}, later)
            .choice("unlisted_nodes", &Cluster::unlisted_nodes, "nominal",
                    "speed of the nodes that are not in slow_nodes or the node file: drawn at random, or "
                    "nominal as in the catalog")
            .text("name", &Cluster::name, "my-cluster", "name of the cluster in reports");
    return fields;
}

}  // namespace

const SectionTable& cluster_table() { return cluster_fields(); }

std::vector<Distribution> read_tier_variability(Table cluster)
{
    std::vector<Distribution> distributions;
    for (const Value& element : cluster.find("tier")->list(tier_example)) {
        const auto distribution = element.table(tier_example).find("variability");
        distributions.push_back(distribution ? read_distribution(*distribution, "scenario") : Distribution{});
    }
    return distributions;
}

namespace {

/// Figures that the catalog omits where no public source has them. Step times need no power.
void refuse_missing_figures(Table& table, Keys keys, const Accelerator& accelerator)
{
    const bool no_power = keys == Keys::all && accelerator.power.si <= 0.0;
    for (const auto& [missing, key, example] :
         {std::tuple{accelerator.memory_bandwidth.si <= 0.0, "memory_bandwidth", "4 TB/s"},
          {no_power, "power", "700 W"}}) {
        if (missing) {
            table.find("accelerator")
                ->fail(
                    {fmt::format("has no {} in the catalog", key), "no public source states it",
                     fmt::format("give your own: accelerator_override = {{ {} = \"{}\" }}", key, example)});
        }
    }
}

void refuse_nodes_outside_networks(const Value& tiers, const std::vector<NetworkTier>& read)
{
    for (std::size_t t = 1; t < read.size(); ++t) {
        if (read[t].kind == TierKind::node && read[t - 1].kind == TierKind::network) {
            tiers.fail({fmt::format("has tier {} of nodes outside tier {} of a network", read[t].name,
                                    read[t - 1].name),
                        "adapters join whole nodes",
                        "list tiers from the inside out, or give its kind = \"network\""});
        }
    }
}

/// What a job may run on whose software nobody chose; a name that is assumed comes first.
std::vector<PossibleSoftware> possible_software(const SoftwareChoice& choice, Table& cluster,
                                                const std::string& accelerator, const Workload& workload)
{
    std::vector<PossibleSoftware> possible = plausible_software(accelerator, workload, cluster.catalog());
    if (choice.name.empty()) {
        return possible;
    }
    const std::string name = software_of(choice, cluster.catalog()).software.text();
    const auto found = std::find_if(possible.begin(), possible.end(), [&](const PossibleSoftware& software) {
        return software.software.text() == name;
    });
    if (found == possible.end()) {
        cluster.fail({fmt::format("has software {}, which [software] marks as assumed", name),
                      "it is not among the plausible programs for this network and accelerator",
                      "remove assumed = true from [software] if the job runs on it"});
    }
    std::rotate(possible.begin(), found, std::next(found));
    return possible;
}

/// Takes the software into the cluster whose accelerator and tiers are as without any.
void set_software(Cluster& cluster, Table& table, const SoftwareChoice& of_scenario, const Workload& workload)
{
    const Catalog& catalog = table.catalog();
    SoftwareChoice choice = of_scenario;
    PossibleSoftware software;
    if (const auto own = table.find("software")) {
        choice = read_software_choice(own->table("{ name = \"maxtext\" }"));
    }
    if (const auto older = table.find(older_software)) {
        if (!choice.name.empty()) {
            older->fail(
                {"stands beside [software]", fmt::format("that names {}", choice.name), "remove stack"});
        }
        software.stack = catalog_stack(
            older->choice(catalog.names(stacks_kind), "software stacks in the catalog"), catalog);
        software.library = library_of(software.stack, catalog);
        const auto named = software_with(software.stack.name, catalog);
        software.software =
            named ? software_of(*named, catalog).software : Software{.name = software.stack.name};
    } else if (!choice.name.empty() && !choice.assumed) {
        software = software_of(choice, catalog);
    } else {
        cluster.possible = possible_software(choice, table, cluster.accelerator.catalog_entry, workload);
        software = cluster.possible.front();
    }
    if (table.find("collectives")) {
        software.library = cluster.library;
        for (PossibleSoftware& other : cluster.possible) {
            other.library = cluster.library;
        }
    }
    cluster.software = software.software;
    cluster.stack = software.stack;
    cluster.library = software.library;
    cluster.accelerator = under(cluster.accelerator, cluster.stack);
    for (NetworkTier& tier : cluster.tiers) {
        tier = under(tier, cluster.stack);
    }
}

/// The GPUs of a host share its memory. A domain of NVLink may have several hosts.
void share_host(Cluster& cluster, int gpus, const Catalog& catalog)
{
    const int of_host = gpus_of_host(cluster.accelerator, catalog);
    const int of_node = std::min(gpus, cluster.gpus_per_node());
    cluster.accelerator.host_memory = cluster.accelerator.host_memory /
                                      static_cast<double>(of_host > 0 ? std::min(of_host, of_node) : of_node);
}

}  // namespace

Cluster read_cluster(Table table, Keys keys, const SoftwareChoice& software, const Workload& workload)
{
    Cluster cluster;
    cluster_fields().read_whole(table, Keys::all, cluster);
    refuse_missing_figures(table, keys, cluster.accelerator);
    if (!table.find("gpu_price")) {
        const auto price = list_price(table.find("accelerator")->text("h100-sxm"), table.catalog());
        if (!price && keys == Keys::all) {
            table.find("accelerator")
                ->fail({"has no list price in the catalog", "no public source states one",
                        "give your own: gpu_price = \"2.50 USD/h\" in [cluster], or [prices.NAME] in a "
                        "catalog of yours"});
        }
        if (price) {
            cluster.gpu_price = price->price;
        }
    }
    const int given = cluster.gpus;
    cluster.tiers = read_tiers(*table.find("tier"), *table.find("gpus"), cluster.gpus);
    refuse_nodes_outside_networks(*table.find("tier"), cluster.tiers);
    share_host(cluster, given, table.catalog());
    set_software(cluster, table, software, workload);
    if (const auto list = table.find("slow_nodes")) {
        cluster.node_factors = read_slow_nodes(*list, cluster);
    } else if (cluster.unlisted_nodes == UnlistedNodes::nominal) {
        cluster.node_factors.assign(static_cast<std::size_t>(cluster.nodes()), cluster.unlisted_factor());
    }
    if (!table.find("name")) {
        cluster.name = fmt::format("{} x {}", given, cluster.accelerator.name);
    }
    return cluster;
}

std::string older_cluster_text(Table cluster)
{
    constexpr std::string_view line =
        "line {}: {} is deprecated and will be rejected by the next release; write {}";
    std::string text;
    const auto changes = cluster.find("accelerator_override");
    const auto shares = changes ? changes->table("{ memory = \"96 GB\" }").find("efficiency") : std::nullopt;
    if (const auto older = shares ? shares->table("{ gemm = 0.8 }").find(older_share) : std::nullopt) {
        text = fmt::format(line, older->line(), older_share, "gemm_fp8, gemm_fp8_block or gemm_nvfp4");
    }
    if (const auto older = cluster.find(older_software)) {
        const auto named = software_with(older->text("megatron-bridge"), cluster.catalog());
        const std::string instead =
            named ? fmt::format(R"([software] with name = "{}", release = "{}")", named->name, named->release)
                  : std::string("[software] with its name, and [software.NAME] in a catalog file");
        text += (text.empty() ? "" : "\n") + fmt::format(line, older->line(), older_software, instead);
    }
    return text;
}

}  // namespace prismopt
