#include "model/network/passes.hpp"

#include <algorithm>

namespace prismopt {

namespace {

/// Whether selective recompute makes an operator's result again: only where something keeps it.
bool made_again(const std::vector<Operator>& operators, std::size_t i)
{
    const auto* cheap = std::get_if<Elementwise>(&operators[i]);
    return cheap != nullptr && cheap->cheap && i + 1 < operators.size();
}

Kept kept_by(const Operator& part, const Extent& extent)
{
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

bool keeps_scores(const LayerKind& kind)
{
    return std::any_of(kind.operators.begin(), kind.operators.end(), [](const Operator& part) {
        const auto* attention = std::get_if<Attention>(&part);
        return attention != nullptr && attention->kernel == AttentionKernel::plain;
    });
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
    const Extent extent(shape);
    Calls calls;
    for (const Operator& part : kind.operators) {
        std::visit([&](const auto& p) { p.forward(extent, calls); }, part);
    }
    return calls;
}

Calls backward_calls(const LayerKind& kind, const LayerShape& shape, Gradients gradients)
{
    const Extent extent(shape);
    Calls calls;
    for (auto part = kind.operators.rbegin(); part != kind.operators.rend(); ++part) {
        std::visit([&](const auto& p) { p.backward(extent, gradients, calls); }, *part);
    }
    return calls;
}

Calls weight_gradient_calls(const LayerKind& kind, const LayerShape& shape)
{
    const Extent extent(shape);
    Calls calls;
    for (auto part = kind.operators.rbegin(); part != kind.operators.rend(); ++part) {
        std::visit(
            [&](const auto& p) {
                if constexpr (requires { p.weight_gradient(extent, calls); }) {
                    p.weight_gradient(extent, calls);
                }
            },
            *part);
    }
    return calls;
}

Calls recompute_calls(const LayerKind& kind, const LayerShape& shape, Recompute recompute)
{
    if (recompute == Recompute::none) {
        return {};
    }
    if (recompute == Recompute::full) {
        return forward_calls(kind, shape);
    }
    const Extent extent(shape);
    const bool scores = keeps_scores(kind);
    Calls calls;
    for (std::size_t i = 0; i < kind.operators.size(); ++i) {
        const auto* attention = std::get_if<Attention>(&kind.operators[i]);
        if (scores && attention != nullptr) {
            attention->forward(extent, calls);
        } else if (!scores && made_again(kind.operators, i)) {
            std::get<Elementwise>(kind.operators[i]).forward(extent, calls);
        }
    }
    return calls;
}

Kept kept_of(const LayerKind& kind, const LayerShape& shape, Recompute recompute)
{
    const Extent extent(shape);
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
                return p.parameters(extent);
            } else {
                return {};
            }
        },
        part);
}

}  // namespace prismopt
