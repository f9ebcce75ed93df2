#include "model/network/passes.hpp"

#include "model/network/alternate_products.hpp"

#include <algorithm>
#include <concepts>

namespace prismopt {

namespace {

ModuleSet modules_of(const Operator& op)
{
    return std::visit(
        []<class Op>(const Op& p) {
            if constexpr (requires { p.modules; }) {
                return p.modules;
            } else {
                return ModuleSet{};
            }
        },
        op);
}

template <class Op>
bool frozen(const Op& op)
{
    if constexpr (requires { op.frozen; }) {
        return op.frozen;
    } else {
        return false;
    }
}

/// Whether it is of an expert that sees every token: it needs none of those on their way to others.
template <class Op>
bool of_shared_expert(const Op& op)
{
    if constexpr (requires { op.shared_expert; }) {
        return op.shared_expert;
    } else {
        return false;
    }
}

/// What a layer's operator works on: all its tokens, or those of one of its streams.
template <class Op>
Extent extent_of(const Op& op, const Extent& layer)
{
    if constexpr (requires { op.stream; }) {
        return layer.of(op.stream);
    } else {
        return layer;
    }
}

/// Calls add() for an operator's calls.
template <class Op, class Add>
void add_calls(const Op& op, const LayerShape& shape, Calls& calls, Add&& add)
{
    const std::size_t first = calls.list().size();
    add();
    if (of_shared_expert(op)) {
        calls.hide_tokens(first);
    }
    if (shape.cuda_graphs.has(Module::full_iteration) || shape.cuda_graphs.intersects(modules_of(op))) {
        calls.in_graph(first);
    }
}

/// GaLore keeps two moments of the gradient in n x 1 and a projection of m x 1 per rank (Zhao et al., arXiv
/// 2403.03507, table 1). Each member of a tensor-parallel group projects its part of a matrix.
double projected_numbers(double in, double out) { return std::min(in, out) + 2.0 * std::max(in, out); }

template <class Op>
double projected_numbers(const Op& op, const Extent& extent)
{
    if constexpr (std::same_as<Op, Linear>) {
        const double in = op.split == Linear::Split::rows ? op.in.local(extent.tp) : op.in.whole();
        const double out = op.split == Linear::Split::columns ? op.out.local(extent.tp) : op.out.whole();
        return op.counted && !op.tied ? projected_numbers(in, out) : 0.0;
    } else if constexpr (std::same_as<Op, GroupedLinear>) {
        return extent.local_experts(op.routing) * projected_numbers(op.in.whole(), op.out.whole());
    } else {
        return 0.0;
    }
}

/// A product whose weights have no gradient needs its input no more.
Operator as_kept(const Operator& op)
{
    Operator result = op;
    std::visit(
        [](auto& p) {
            if constexpr (requires { p.keeps_input; }) {
                p.keeps_input = p.keeps_input && !p.frozen;
            }
        },
        result);
    return result;
}

Kept kept_by(const Operator& any, const Extent& extent)
{
    const Operator op = as_kept(any);
    return std::visit(
        [&]<class Op>(const Op& p) -> Kept {
            if constexpr (requires { p.kept(extent); }) {
                return p.kept(extent_of(p, extent));
            } else {
                return {};
            }
        },
        op);
}

}  // namespace

ModuleSet modules_run_again(const LayerKind& kind, const ModuleSet& modules)
{
    if (!modules.empty()) {
        return modules;
    }
    const bool scores = std::any_of(kind.operators.begin(), kind.operators.end(),
                                    [](const Operator& op) { return modules_of(op).has(Module::core_attn); });
    return scores ? ModuleSet{Module::core_attn} : ModuleSet{Module::elementwise};
}

Kept& Kept::operator+=(const Kept& other)
{
    numbers += other.numbers;
    products += other.products;
    bytes += other.bytes;
    recomputable += other.recomputable;
    held_numbers += other.held_numbers;
    held_products += other.held_products;
    workspace += other.workspace;
    logits += other.logits;
    return *this;
}

double Calls::needed_flops() const
{
    double sum = 0.0;
    for (const AnyCall& call : list_) {
        if (const auto* kernel = std::get_if<KernelCall>(&call)) {
            sum += kernel->needed_flops;
        }
    }
    return sum;
}

Calls forward_calls(const LayerKind& kind, const LayerShape& shape)
{
    const Extent extent(shape, kind.tokens);
    Calls calls;
    for (const Operator& op : kind.operators) {
        std::visit(
            [&](const auto& p) {
                add_calls(p, shape, calls, [&] { p.forward(extent_of(p, extent), calls); });
            },
            op);
    }
    return calls;
}

Calls backward_calls(const LayerKind& kind, const LayerShape& shape, Gradients gradients)
{
    const Extent extent(shape, kind.tokens);
    Calls calls;
    for (auto op = kind.operators.rbegin(); kind.backward && op != kind.operators.rend(); ++op) {
        std::visit(
            [&](const auto& p) {
                add_calls(p, shape, calls, [&] {
                    p.backward(extent_of(p, extent), frozen(p) ? Gradients::input : gradients, calls);
                });
            },
            *op);
    }
    return calls;
}

Calls weight_gradient_calls(const LayerKind& kind, const LayerShape& shape)
{
    const Extent extent(shape, kind.tokens);
    Calls calls;
    for (auto op = kind.operators.rbegin(); kind.backward && op != kind.operators.rend(); ++op) {
        std::visit(
            [&](const auto& p) {
                if constexpr (requires { p.weight_gradient(extent, calls); }) {
                    if (!frozen(p)) {
                        add_calls(p, shape, calls, [&] { p.weight_gradient(extent_of(p, extent), calls); });
                    }
                }
            },
            *op);
    }
    return calls;
}

Calls recompute_calls(const LayerKind& kind, const LayerShape& shape, Recompute recompute)
{
    if (recompute == Recompute::none || !kind.backward) {
        return {};
    }
    if (recompute == Recompute::full) {
        return forward_calls(kind, shape);
    }
    if (shape.recompute_modules.has(Module::alternate_products)) {
        return alternate_calls(kind, shape);
    }
    const Extent extent(shape, kind.tokens);
    const std::vector<bool> again = recomputed_operators(kind, shape.recompute_modules);
    Calls calls;
    for (std::size_t i = 0; i < kind.operators.size(); ++i) {
        if (again[i]) {
            std::visit(
                [&](const auto& op) {
                    add_calls(op, shape, calls, [&] { op.forward(extent_of(op, extent), calls); });
                },
                kind.operators[i]);
        }
    }
    return calls;
}

/// A result that nothing after it reads is not made again.
std::vector<bool> recomputed_operators(const LayerKind& kind, const ModuleSet& modules)
{
    const ModuleSet chosen = modules_run_again(kind, modules);
    const bool alternates = modules.has(Module::alternate_products);
    const std::vector<double> saved = alternates ? alternately_saved(kind) : std::vector<double>{};
    std::vector<bool> again;
    for (std::size_t i = 0; i < kind.operators.size(); ++i) {
        const bool last = i + 1 == kind.operators.size();
        const bool runs = alternates ? saved[i] < 1.0 : chosen.intersects(modules_of(kind.operators[i]));
        again.push_back(runs && !last);
    }
    return again;
}

/// What an operator saves is the result of the one before it: it is dropped where that one runs again, unless
/// that one ends a checkpoint, whose result stays.
Kept kept_of(const LayerKind& kind, const LayerShape& shape, Recompute recompute)
{
    const Extent extent(shape, kind.tokens);
    if (!kind.backward) {
        return {};
    }
    if (recompute == Recompute::selective && shape.recompute_modules.has(Module::alternate_products)) {
        return alternately_kept(kind, shape);
    }
    const std::vector<bool> again = recomputed_operators(kind, shape.recompute_modules);
    const ModuleSet dropped = modules_run_again(kind, shape.recompute_modules).without(checkpointed_modules);
    Kept all;
    for (std::size_t i = 0; i < kind.operators.size(); ++i) {
        Kept own = kept_by(kind.operators[i], extent);
        if (recompute == Recompute::selective) {
            own.bytes -= again[i] ? own.recomputable : 0.0;
            if (i > 0 && again[i - 1] &&
                (again[i] || dropped.intersects(modules_of(kind.operators[i - 1])))) {
                own.numbers = 0.0;
                own.products = 0.0;
            }
        }
        all += own;
    }
    return all;
}

Parameters parameters_of(const Operator& op, const Extent& extent)
{
    return std::visit(
        [&]<class Op>(const Op& p) -> Parameters {
            if constexpr (requires { p.parameters(extent); }) {
                Parameters own = p.parameters(extent);
                if constexpr (requires { p.wide, p.in; }) {
                    own.products = p.wide ? 0.0 : own.all;
                }
                own.projected = projected_numbers(p, extent);
                if (frozen(p)) {
                    own.projected = 0.0;
                    own.frozen = own.all - own.expert - own.rows;
                    own.frozen_expert = own.expert;
                }
                if constexpr (requires { p.stored_bytes; }) {
                    own.saved_bytes = p.stored_bytes > 0.0 ? (element_bytes - p.stored_bytes) * own.all : 0.0;
                }
                return own;
            } else {
                return {};
            }
        },
        op);
}

}  // namespace prismopt
