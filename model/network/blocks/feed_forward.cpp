#include "model/network/blocks/common_operators.hpp"

namespace prismopt {

namespace {

using Split = Linear::Split;

constexpr double permute_traffic = 2.0;  // one read or one write of a token on its way to an expert
/// Kernels of a pass beside the products: those that count and sort tokens, and those of dispatch,
/// permutation and combination, which no graph of modules holds, and those for the numbers of tokens that the
/// host reads before an all-to-all. Chosen by the fit; a backward pass of a layer of experts, one on each
/// GPU, was counted to have 79 kernels in all (docs/methods/experts.md).
constexpr double sorting_kernels = 5.0;
constexpr double exchange_kernels = 20.0;
constexpr double count_kernels = 20.0;

/// From the permutation of the tokens to the sum of the experts' results.
Block routed_experts(const ExpertsBlock& b, const Routing& routing, double width)
{
    using Among = TokenExchange::Group;
    using Way = TokenExchange::Way;
    // A token is read once and each of its copies written and read on the way there, and so on the way back.
    const double permuted = permute_traffic * (1.0 + 2.0 * routing.active);
    const auto exchange = [&](Among group, Way way) {
        return TokenExchange{.group = group, .way = way, .width = width, .routing = routing};
    };
    const Elementwise there{.place = Place::own,
                            .width = width,
                            .forward_bytes = permuted,
                            .backward_bytes = permuted,
                            .roof = Roof::routing,
                            .launches = sorting_kernels,
                            .modules = {Module::moe_preprocess}};
    // The experts' results are kept where the routing weights multiply them.
    const Elementwise back{.place = Place::own,
                           .width = width,
                           .forward_bytes = permuted,
                           .backward_bytes = permuted,
                           .keeps_copies = b.weights == RoutingWeights::results,
                           .roof = Roof::routing,
                           .launches = exchange_kernels,
                           .launches_of_counts = count_kernels,
                           .routing = routing};
    const bool gates = gated(b.activation);
    Block activation =
        in_modules({activation_of(b.inner, b.activation, Place::routed, routing)}, {Module::moe_act});
    std::get<Elementwise>(activation.front()).of_experts = gates;
    return {there,
            exchange(Among::experts, Way::there),
            exchange(Among::expert_tensor, Way::there),
            GroupedLinear{.in = width,
                          .out = columns_of(b.inner, b.activation),
                          .routing = routing,
                          .bias = b.bias,
                          .gated = gates},
            activation.front(),
            GroupedLinear{.in = b.inner,
                          .out = width,
                          .split = Split::rows,
                          .routing = routing,
                          .bias = b.bias,
                          .gated = gates},
            exchange(Among::expert_tensor, Way::back),
            exchange(Among::experts, Way::back),
            back};
}

/// Experts that all tokens pass through.
Block shared_experts(const ExpertsBlock& b, double hidden)
{
    Block shared;
    add_mlp(hidden, b.shared, b.activation, false, false, shared);
    shared = in_modules(shared, {Module::shared_experts});
    for (Operator& op : shared) {
        std::visit(
            [](auto& own) {
                if constexpr (requires { own.shared_expert; }) {
                    own.shared_expert = true;
                }
            },
            op);
    }
    return shared;
}

}  // namespace

Block operators_of(const MlpBlock& b, const ResidualStream& stream)
{
    Block inside;
    add_mlp(stream.hidden, b.inner, b.activation, b.bias, true, inside);
    return branch(stream, in_modules(inside, {Module::mlp}));
}

Block operators_of(const ExpertsBlock& b, const ResidualStream& stream)
{
    const double h = stream.hidden;
    const Routing routing = b.routing();
    const double width = b.latent > 0 ? b.latent : h;
    Block inside{Linear{.in = h,
                        .out = routing.experts,
                        .split = Split::none,
                        .tokens = Place::own,
                        .bias = b.bias,
                        .wide = true,
                        .modules = {Module::moe_router}}};
    if (b.latent > 0) {
        inside.push_back(
            Linear{.in = h, .out = width, .split = Split::none, .tokens = Place::own, .keeps_input = false});
    }
    const Block routed = routed_experts(b, routing, width);
    inside.insert(inside.end(), routed.begin(), routed.end());
    if (b.latent > 0) {
        inside.push_back(Linear{.in = width, .out = h, .split = Split::none, .tokens = Place::own});
    }
    if (b.shared > 0) {
        const Block shared = shared_experts(b, h);
        inside.insert(inside.end(), shared.begin(), shared.end());
        if (b.shared_gate) {
            inside.push_back(
                Linear{.in = h, .out = 1.0, .split = Split::none, .keeps_input = false, .wide = true});
        }
    }
    return branch(stream, in_modules(inside, {Module::moe}));
}

}  // namespace prismopt
