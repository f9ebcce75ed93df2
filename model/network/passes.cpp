#include "model/network/passes.hpp"

#include <algorithm>

namespace prismopt {

namespace {

/// Whether selective recompute makes an operator's result again: only where something keeps it.
bool made_again(const std::vector<Operator>& operators, std::size_t i)
{
    const bool cheap = std::visit(
        []<class Part>(const Part& part) {
            if constexpr (requires { part.cheap; }) {
                return part.cheap;
            } else {
                return false;
            }
        },
        operators[i]);
    return cheap && i + 1 < operators.size();
}

template <class Part>
bool frozen(const Part& part)
{
    if constexpr (requires { part.frozen; }) {
        return part.frozen;
    } else {
        return false;
    }
}

/// Whether it is of an expert that sees every token: it needs none of those on their way to others.
template <class Part>
bool of_shared_expert(const Part& part)
{
    if constexpr (requires { part.shared_expert; }) {
        return part.shared_expert;
    } else {
        return false;
    }
}

/// Calls add() for an operator's calls.
template <class Part, class Add>
void add_calls(const Part& part, Calls& calls, Add&& add)
{
    const std::size_t first = calls.list().size();
    add();
    if (of_shared_expert(part)) {
        calls.hide_tokens(first);
    }
}

/// A product whose weights have no gradient needs its input no more.
Operator as_kept(const Operator& part)
{
    Operator result = part;
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
    const Operator part = as_kept(any);
    return std::visit(
        [&]<class Part>(const Part& p) -> Kept {
            if constexpr (requires { p.kept(extent); }) {
                return p.kept(extent);
            } else {
                return {};
            }
        },
        part);
}

/// Whether it is attention that writes its scores to memory.
bool keeps_scores(const Operator& part)
{
    const auto* attention = std::get_if<Attention>(&part);
    if (const auto* recorded = std::get_if<Recorded>(&part)) {
        const auto* heads = std::get_if<Recorded::Heads>(&recorded->work);
        attention = heads != nullptr ? &heads->attention : nullptr;
    }
    return attention != nullptr && attention->kernel == AttentionKernel::plain;
}

bool keeps_scores(const LayerKind& kind)
{
    return std::any_of(kind.operators.begin(), kind.operators.end(), [](const Operator& part) { return keeps_scores(part); });
}

}  // namespace

Kept& Kept::operator+=(const Kept& other)
{
    numbers += other.numbers;
    bytes += other.bytes;
    recomputable += other.recomputable;
    held_numbers += other.held_numbers;
    workspace += other.workspace;
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
    for (const Operator& part : kind.operators) {
        std::visit([&](const auto& p) { add_calls(p, calls, [&] { p.forward(extent, calls); }); }, part);
    }
    return calls;
}

Calls backward_calls(const LayerKind& kind, const LayerShape& shape, Gradients gradients)
{
    const Extent extent(shape, kind.tokens);
    Calls calls;
    for (auto part = kind.operators.rbegin(); kind.backward && part != kind.operators.rend(); ++part) {
        std::visit(
            [&](const auto& p) {
                add_calls(p, calls, [&] { p.backward(extent, frozen(p) ? Gradients::input : gradients, calls); });
            },
            *part);
    }
    return calls;
}

Calls weight_gradient_calls(const LayerKind& kind, const LayerShape& shape)
{
    const Extent extent(shape, kind.tokens);
    Calls calls;
    for (auto part = kind.operators.rbegin(); kind.backward && part != kind.operators.rend(); ++part) {
        std::visit(
            [&](const auto& p) {
                if constexpr (requires { p.weight_gradient(extent, calls); }) {
                    if (!frozen(p)) {
                        p.weight_gradient(extent, calls);
                    }
                }
            },
            *part);
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
    const Extent extent(shape, kind.tokens);
    const bool scores = keeps_scores(kind);
    Calls calls;
    for (std::size_t i = 0; i < kind.operators.size(); ++i) {
        if (scores ? keeps_scores(kind.operators[i]) : made_again(kind.operators, i)) {
            std::visit([&](const auto& part) { part.forward(extent, calls); }, kind.operators[i]);
        }
    }
    return calls;
}

Kept kept_of(const LayerKind& kind, const LayerShape& shape, Recompute recompute)
{
    const Extent extent(shape, kind.tokens);
    if (!kind.backward) {
        return {};
    }
    const bool scores = keeps_scores(kind);
    Kept all;
    double again = 0.0;  // numbers
    for (std::size_t i = 0; i < kind.operators.size(); ++i) {
        const Kept own = kept_by(kind.operators[i], extent);
        all += own;
        if (!scores && i > 0 && made_again(kind.operators, i - 1)) {
            again += own.numbers;
        }
    }
    if (recompute == Recompute::selective) {
        all.numbers -= again;
        all.bytes -= all.recomputable;
    }
    return all;
}

Parameters parameters_of(const Operator& part, const Extent& extent)
{
    return std::visit(
        [&]<class Part>(const Part& p) -> Parameters {
            if constexpr (requires { p.parameters(extent); }) {
                Parameters own = p.parameters(extent);
                if (frozen(p)) {
                    own.frozen = own.all - own.expert - own.rows;
                    own.frozen_expert = own.expert;
                }
                return own;
            } else {
                return {};
            }
        },
        part);
}

}  // namespace prismopt
