#include "model/step/compile/graph_builder.hpp"

#include "model/hardware/collective.hpp"
#include "model/hardware/kernel_time.hpp"
#include "model/plan/node_order.hpp"
#include "model/step/compile/data_parallel.hpp"
#include "model/step/compile/outer_exchange.hpp"
#include "model/step/graph/mean_step.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

namespace prismopt {

namespace {

void set_means(const ChunkPass& pass, OpDistribution& distribution)
{
    distribution.compute_s = static_cast<float>(pass.compute_s());
    distribution.communication_s = static_cast<float>(pass.communication_s());
    distribution.host_s = static_cast<float>(pass.host_s());
    distribution.compute.mean_s = distribution.compute_s;
    distribution.communication.mean_s = distribution.communication_s;
}

/// The duration with its shape among the graph's.
DurationDistribution with_shape(const ComposedDuration& duration, ExecutionGraph& graph)
{
    auto& shapes = graph.shapes;
    auto at = std::find(shapes.begin(), shapes.end(), duration.shape);
    if (at == shapes.end()) {
        at = shapes.insert(shapes.end(), duration.shape);
    }
    return {static_cast<float>(duration.mean_s), static_cast<float>(duration.cv),
            static_cast<int>(at - shapes.begin())};
}

/// Megatron-LM without overlapped messages (forward_backward_pipelining_with_interleaving): a stage sends
/// what a forward and a backward gave, and receives what the next two need, in one exchange, and does nothing
/// else meanwhile. So an op holds its stage for half of its transfer; the other half it only comes later by,
/// and a message alone still takes its whole time.
bool waits_for_chunks(const ParallelPlan& plan, const Cluster& cluster)
{
    return facts_of(plan.schedule).groups && cluster.stack.waits_for_chunks;
}

DurationDistribution longer(const DurationDistribution& distribution, float seconds)
{
    const float mean = distribution.mean_s + seconds;
    return mean > 0.0F
               ? DurationDistribution{mean, distribution.cv * distribution.mean_s / mean, distribution.shape}
               : distribution;
}

double transfer_time(double bytes, const ReplicaKind::Link& link, int senders, const Cluster& cluster)
{
    return bytes == 0.0 ? 0.0
                        : point_to_point_time(Bytes{bytes}, link.from, link.to, senders, cluster).si /
                              cluster.speed.of(KernelClass::p2p);
}

/// What one GPU of a stage updates.
struct Updated {
    double matrices = 0.0;
    double others = 0.0;
    double orthogonal_s = 0.0;

    Updated& operator+=(const Updated& other)
    {
        matrices += other.matrices;
        others += other.others;
        orthogonal_s += other.orthogonal_s;
        return *this;
    }
    /// Nothing where nothing is trained.
    double seconds(const OptimizerSettings& optimizer, Offload offload, const Cluster& cluster) const
    {
        return matrices + others > 0.0
                   ? (update_time(matrices, others, optimizer, offload, cluster.accelerator) +
                      cluster.stack.step)
                             .si +
                         orthogonal_s / cluster.speed.of(KernelClass::gemm)
                   : 0.0;
    }
};

/// Whole matrices go to the GPUs that share states out (Megatron-Core, layer_wise_optimizer.py).
Updated updated_by(const Parameters& own, const ChunkContents& made_of, const DataParallel& exchange)
{
    if (own.all == 0.0) {
        return {};
    }
    const double all = exchange.updated(own);
    const double others = all * own.ends / own.all;
    return {all - others, others, made_of.sum(&LayerCost::orthogonal_s) * all / own.all};
}

/// Builds one graph; each function sets one aspect of all chunks.
class GraphBuilder {
public:
    GraphBuilder(const PlacedPlan& placed, const PlacesOfReplica& places,
                 std::shared_ptr<const Program> program, const PlacedChunks& chunks, const LayerCosts& costs,
                 const OptimizerSettings& optimizer, const Setting& setting)
        : placed_(placed), places_(places), chunks_(chunks), costs_(costs), optimizer_(optimizer),
          setting_(setting), cluster_(setting.cluster)
    {
        graph_.program = std::move(program);
        graph_.placement = placed.placement;
        graph_.dp_overlap = placed.plan.dp_overlap;
        graph_.distribution.resize(static_cast<std::size_t>(chunks.count()) * graph_.passes());
    }

    ExecutionGraph build() &&
    {
        set_factors();
        set_means_of_passes();
        set_transfers();
        set_exchanges();
        hold_for_circuits();
        if (placed_.plan.post_validation == PostValidation::on) {
            graph_.ahead_s = idle_before(graph_);
        }
        return std::move(graph_);
    }

private:
    OpDistribution& distribution(int chunk, Pass pass)
    {
        return graph_.distribution[graph_.distribution_at(chunk, pass)];
    }

    /// Persistent factors of the GPUs and nodes.
    void set_factors()
    {
        graph_.segment_cv = segment_cv(costs_.typical(), setting_.noise.residual, placed_.widths);
        graph_.group = setting_.noise.group_factor(graph_.placement.tp, graph_.segment_cv);
        if (cluster_.nodes_listed()) {
            // A known factor is of a node's slowest GPU, which all in it wait for: neither
            // its GPUs nor itself are drawn.
            for (const int node : nodes_in_order(placed_.plan, cluster_)) {
                graph_.node.push_back(static_cast<float>(cluster_.node_factors[node]));
            }
            if (!std::any_of(graph_.node.begin(), graph_.node.end(),
                             [](float f) { return f == static_cast<float>(Cluster::drawn_node); })) {
                graph_.group = QuantileTable([](double, bool) { return 1.0; });
            }
        }
        graph_.group_mean = graph_.group.mean();
    }

    void set_means_of_passes()
    {
        for (int chunk = 0; chunk < chunks_.count(); ++chunk) {
            graph_.first_slot.push_back(static_cast<std::uint16_t>(
                chunks_.chunk(chunk).embedding ? 0 : chunks_.chunk(chunk).first_layer + 1));
            chunks_.with_passes(chunk, graph_.passes(),
                                [&](std::span<const Pass> kinds, std::span<const ChunkPass> costs_of) {
                                    for (std::size_t i = 0; i < kinds.size(); ++i) {
                                        set_means(costs_of[i], distribution(chunk, kinds[i]));
                                    }
                                });
        }
    }

    /// Messages between stages.
    void set_transfers()
    {
        const bool waits = waits_for_chunks(placed_.plan, cluster_);
        for (int chunk = 0; chunk < chunks_.count(); ++chunk) {
            for (const int step : {-1, 1}) {
                const int stage = chunks_.position(chunk).stage;
                const int sender = chunks_.stage_next_to(chunk, step);
                const double seconds =
                    transfer_time(chunks_.received_bytes(chunk, step), link_between(sender, stage),
                                  graph_.placement.senders(sender, stage), cluster_);
                for (int pass = 0; pass < graph_.passes(); ++pass) {
                    const auto kind = static_cast<Pass>(pass);
                    if (step < 0 ? is_forward(kind) : gives_input_gradient(kind)) {
                        set_transfer(seconds, waits, sender, stage, distribution(chunk, kind));
                    }
                }
            }
        }
    }

    /// Neighbours of a ring of stages: the one before the other has the link of both.
    const ReplicaKind::Link& link_between(int sender, int stage) const
    {
        const int stages = graph_.placement.stages;
        return places_.replica.links[(sender + 1) % stages == stage ? sender : stage];
    }

    void set_transfer(double seconds, bool waits, int sender, int stage, OpDistribution& distribution) const
    {
        if (!setting_.noise.tier.empty() && seconds > 0.0) {
            const ReplicaKind::Link& link = link_between(sender, stage);
            distribution.transfer_tier = static_cast<int>(tier_between(link.from, link.to, cluster_));
        }
        distribution.transfer_s = static_cast<float>(waits ? 0.5 * seconds : seconds);
        if (waits) {
            distribution.communication_s += distribution.transfer_s;
            distribution.communication = longer(distribution.communication, distribution.transfer_s);
        }
    }

    /// Collectives of data parallelism, and the updates between them.
    void set_exchanges()
    {
        const ParallelPlan building = plan_of_building(placed_.plan, cluster_);
        std::vector<DataParallel> exchanges;  // [stage], or one for all
        for (const ExchangeGroups& groups : places_.exchanges.exchanges) {
            exchanges.emplace_back(building, groups, cluster_, optimizer_);
        }
        for (const DataParallel& exchange : exchanges) {
            const int tier = setting_.noise.tier.empty() ? 0 : static_cast<int>(exchange.tier());
            graph_.exchange_tier = std::max(graph_.exchange_tier, tier);
        }
        const bool splits = graph_.passes() > static_cast<int>(Pass::weight_gradient);
        std::vector<Updated> updated(graph_.stages());
        std::vector<Parameters> trained(graph_.stages());
        for (int chunk = 0; chunk < chunks_.count(); ++chunk) {
            const auto [stage, place] = chunks_.position(chunk);
            const int layers = chunks_.chunk(chunk).layers;
            const Parameters own = chunks_.made_of(chunk).parameters().trained();
            const DataParallel& exchange = exchanges[exchanges.size() > 1 ? stage : 0];
            updated[stage] += updated_by(own, chunks_.made_of(chunk), exchange);
            trained[stage] += own;
            const bool last = place == 0;  // of the stage's chunks, to have its gradients
            const ChunkPass forward = chunks_.pass(chunk, Pass::forward);
            const ChunkPass ending = chunks_.pass(chunk, splits ? Pass::weight_gradient : Pass::backward);
            graph_.reduction.push_back(exchange.reduction(own, ending, layers, last));
            graph_.gathering.push_back(exchange.gathering(own, forward, layers));
        }
        for (const Updated& own : updated) {
            graph_.optimizer_s.push_back(
                static_cast<float>(own.seconds(optimizer_, placed_.plan.offload, cluster_)));
        }
        const int steps = placed_.plan.local_steps;
        for (int stage = 0; steps > 1 && stage < graph_.stages(); ++stage) {
            const double seconds = outer_exchange_time(trained[stage], placed_.plan,
                                                       places_.exchanges.exchange(stage), cluster_);
            graph_.outer_s = std::max(graph_.outer_s, static_cast<float>(seconds / steps));
        }
    }

    /// Seconds for which the busiest circuit sends the messages of one microbatch, of all
    /// replicas, one after the other.
    double busiest_circuit() const
    {
        const Placement& at = graph_.placement;
        double busy = 0.0;
        for (std::size_t t = 1; t < cluster_.tiers.size(); ++t) {
            const NetworkTier& tier = cluster_.tiers[t];
            std::map<int, double> leaving;  // bytes of one member of one replica, by unit
            for (int chunk = 0; tier.circuit() && chunk < chunks_.count(); ++chunk) {
                const int stage = chunks_.position(chunk).stage;
                for (const int step : {-1, 1}) {
                    const int here = at.gpu(0, stage) / cluster_.tiers[t - 1].group_gpus;
                    const int there =
                        at.gpu(0, chunks_.stage_next_to(chunk, step)) / cluster_.tiers[t - 1].group_gpus;
                    leaving[here] += here != there ? chunks_.sent_bytes(chunk, step) : 0.0;
                }
            }
            const double second = tier.goodput(tier.aggregate * (tier.efficiency / (at.tp * at.replicas))).si;
            for (const auto& [unit, bytes] : leaving) {
                busy = std::max(busy, bytes / second);
            }
        }
        return busy;
    }

    /// Where a circuit takes longer than the busiest stage works on a microbatch, that stage can have one
    /// only so often: its forward passes are longer by the rest.
    void hold_for_circuits()
    {
        if (!graph_.placement.stages_cross()) {
            return;
        }
        std::vector<double> work(graph_.stages(), 0.0);
        for (int chunk = 0; chunk < chunks_.count(); ++chunk) {
            for (int pass = 0; pass < graph_.passes(); ++pass) {
                const OpDistribution& own = distribution(chunk, static_cast<Pass>(pass));
                work[chunks_.position(chunk).stage] +=
                    static_cast<double>(own.compute_s) + static_cast<double>(own.communication_s);
            }
        }
        const auto busiest = std::max_element(work.begin(), work.end());
        const int stage = static_cast<int>(busiest - work.begin());
        const double rest = std::max(0.0, busiest_circuit() - *busiest) / graph_.chunks();
        for (int chunk = 0; rest > 0.0 && chunk < graph_.chunks(); ++chunk) {
            OpDistribution& own = distribution(stage * graph_.chunks() + chunk, Pass::forward);
            own.held_s = static_cast<float>(rest);
            own.communication_s += own.held_s;
            own.communication = longer(own.communication, own.held_s);
        }
    }

    const PlacedPlan& placed_;
    const PlacesOfReplica& places_;
    const PlacedChunks& chunks_;
    const LayerCosts& costs_;
    const OptimizerSettings& optimizer_;
    const Setting& setting_;
    const Cluster& cluster_;
    ExecutionGraph graph_;
};

/// Seconds of passes, by what they follow as lengths of samples vary.
struct FollowingLengths {
    double compute_s = 0.0;
    double tokens_s = 0.0;  // of compute, and of collectives and messages
    double attention_s = 0.0;
    double exposed_s = 0.0;  // of sharded parameters' collectives

    /// Gathers and reductions of sharded parameters follow nothing, and waits for the host do not get longer.
    void add(const ChunkPass& pass, double passes)
    {
        pass.for_each_pass([&](int repeated, const PassCost& cost) {
            const double count = passes * repeated;
            compute_s += count * cost.compute_s;
            for (const Segment& segment : cost.segments) {
                for (const Kernel& kernel : segment) {
                    double& follows = kernel.kind == KernelClass::attention ? attention_s : tokens_s;
                    follows += kernel.kind == KernelClass::host_wait ? 0.0 : count * kernel.seconds;
                }
            }
            for (const Exposed& message : cost.exposed) {
                for (const Exposed::Share& share_of : message.shares) {
                    const bool of_parameters = is_within(share_of.kind, KernelClass::sharded_collective);
                    tokens_s += of_parameters ? 0.0 : count * share_of.share * message.seconds;
                    exposed_s +=
                        of_parameters ? count * share_of.share * (message.seconds - message.slowed_s) : 0.0;
                }
            }
        });
    }
    /// `hidden`: share of the exposed seconds that compute saves where it is longer.
    LengthShares shares(double hidden) const
    {
        if (compute_s <= 0.0) {
            return {};
        }
        return {.tokens = static_cast<float>(tokens_s / compute_s),
                .attention = static_cast<float>(attention_s / compute_s),
                .exposed = static_cast<float>(hidden * exposed_s / compute_s)};
    }
};

}  // namespace

ExecutionGraph build_graph(const PlacedPlan& placed, const PlacesOfReplica& places,
                           std::shared_ptr<const Program> program, const PlacedChunks& chunks,
                           const LayerCosts& costs, const OptimizerSettings& optimizer,
                           const Setting& setting)
{
    return GraphBuilder(placed, places, std::move(program), chunks, costs, optimizer, setting).build();
}

void add_waiting(const PlacedPlan& placed, const PlacedChunks& chunks, ChainDistributions& chains,
                 ExecutionGraph& graph)
{
    for (int chunk = 0; chunk < chunks.count(); ++chunk) {
        chunks.with_passes(
            chunk, graph.passes(), [&](std::span<const Pass> kinds, std::span<const ChunkPass> costs_of) {
                for (std::size_t i = 0; i < kinds.size(); ++i) {
                    graph.distribution[graph.distribution_at(chunk, kinds[i])].compute_s =
                        static_cast<float>(chains.mean_compute(costs_of[i], inside_replica(placed.widths)));
                }
            });
    }
}

void add_lengths(const PlacedPlan& placed, const PlacedChunks& chunks, const Cluster& cluster,
                 std::shared_ptr<const LengthFactors> factors, ExecutionGraph& graph)
{
    if (!factors) {
        return;
    }
    std::vector<FollowingLengths> stages(graph.stages());
    for (int chunk = 0; chunk < chunks.count(); ++chunk) {
        chunks.with_passes(
            chunk, graph.passes(), [&](std::span<const Pass> kinds, std::span<const ChunkPass> costs_of) {
                for (std::size_t i = 0; i < kinds.size(); ++i) {
                    stages[chunks.position(chunk).stage].add(
                        costs_of[i], graph.program->op_count[graph.distribution_at(chunk, kinds[i])]);
                }
            });
    }
    graph.lengths = std::move(factors);
    for (const FollowingLengths& stage : stages) {
        graph.length_shares.push_back(stage.shares(placed.plan.dp_overlap == DataParallelOverlap::on
                                                       ? 1.0 - cluster.stack.communication_share
                                                       : 0.0));
    }
}

void add_distributions(const PlacedPlan& placed, const PlacedChunks& chunks, const Cluster& cluster,
                       ChainDistributions& chains, ExecutionGraph& graph)
{
    const BarrierWidths& widths = placed.widths;
    if (widths.replicas() > 1) {
        int longest = 0;
        for (int chunk = 1; chunk < chunks.count(); ++chunk) {
            if (chunks.chunk(chunk).layers > chunks.chunk(longest).layers) {
                longest = chunk;
            }
        }
        const std::array typical{chunks.layers_of(longest, Pass::forward),
                                 chunks.layers_of(longest, Pass::backward)};
        graph.coupled = coupled_distribution(chains, typical, widths);
    }
    // the communication of an op contains a transfer's time
    const bool waits = waits_for_chunks(placed.plan, cluster);
    for (int chunk = 0; chunk < chunks.count(); ++chunk) {
        chunks.with_passes(
            chunk, graph.passes(), [&](std::span<const Pass> kinds, std::span<const ChunkPass> costs_of) {
                const std::vector<ComposedDuration> compute = set_durations(chains, costs_of, widths);
                for (std::size_t i = 0; i < kinds.size(); ++i) {
                    OpDistribution& distribution = graph.distribution[graph.distribution_at(chunk, kinds[i])];
                    distribution.compute = with_shape(compute[i], graph);
                    distribution.communication =
                        with_shape(chains.compose(costs_of[i], widths).communication, graph);
                    distribution.communication =
                        longer(distribution.communication,
                               (waits ? distribution.transfer_s : 0.0F) + distribution.held_s);
                }
            });
    }
}

}  // namespace prismopt
