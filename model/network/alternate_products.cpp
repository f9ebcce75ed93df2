#include "model/network/alternate_products.hpp"

#include "model/network/passes.hpp"

#include <cstddef>
#include <variant>

namespace prismopt {

namespace {

template <class Kind>
const Kind* next(const LayerKind& kind, std::size_t after)
{
    for (std::size_t i = after + 1; i < kind.operators.size(); ++i) {
        if (const auto* found = std::get_if<Kind>(&kind.operators[i])) {
            return found;
        }
        if (std::holds_alternative<Linear>(kind.operators[i])) {
            break;
        }
    }
    return nullptr;
}

/// Columns of the products that one operator stands for, in their order.
std::vector<double> products_of(const LayerKind& kind, std::size_t i)
{
    const double columns = std::get<Linear>(kind.operators[i]).out.whole();
    if (const auto* attention = next<Attention>(kind, i)) {
        const double query = attention->query().whole();
        const double key = attention->key().whole();
        const double value = attention->value().whole();
        if (columns == query + key + value) {
            return {query, key, value};
        }
    }
    const auto* following = next<Linear>(kind, i);
    const bool gated = following != nullptr && columns == 2.0 * following->in.whole();
    return gated ? std::vector<double>{columns / 2.0, columns / 2.0} : std::vector<double>{columns};
}

double result_numbers(const Linear& op, const Extent& e)
{
    const Extent own = e.beside(op.rows_each);
    switch (op.split) {
        case Linear::Split::columns: return own.numbers(Place::columns, op.out);
        case Linear::Split::rows: return own.numbers(Place::sequence, op.out);
        case Linear::Split::none: break;
    }
    return own.numbers(op.tokens, op.out);
}

double result_numbers(const Attention& op, const Extent& e) { return e.numbers(Place::columns, op.output()); }

double result_numbers(const TokenExchange& op, const Extent& e)
{
    const bool among_experts = op.group == TokenExchange::Group::experts;
    const int members = among_experts ? e.shape.ep : e.shape.etp;
    if (members == 1) {
        return 0.0;
    }
    const bool at_home = among_experts && op.way == TokenExchange::Way::back;
    const double load = at_home ? 1.0 : e.load(op.routing);
    return e.copies(op.routing) * load * op.width;
}

/// All-to-alls and reduce-scatters are saved, the all-gather over the GPUs that share an expert is not.
bool is_saved(const TokenExchange& op)
{
    return op.group == TokenExchange::Group::experts || op.way == TokenExchange::Way::back;
}

/// The logarithm of a sum of exponentials per head and query, in 32 bits.
double sums_bytes(const Operator& op, const Extent& e)
{
    const auto* attention = std::get_if<Attention>(&op);
    return attention != nullptr ? 4.0 * e.tokens * attention->heads / e.tp : 0.0;
}

}  // namespace

std::vector<double> alternately_saved(const LayerKind& kind)
{
    std::vector<double> shares(kind.operators.size(), 0.0);
    bool saves = true;  // the first one
    for (std::size_t i = 0; i < shares.size(); ++i) {
        const Operator& op = kind.operators[i];
        const auto* exchange = std::get_if<TokenExchange>(&op);
        if (std::holds_alternative<Attention>(op) || (exchange != nullptr && is_saved(*exchange))) {
            shares[i] = 1.0;
        } else if (std::holds_alternative<Linear>(op)) {
            double all = 0.0;
            double saved = 0.0;
            for (const double columns : products_of(kind, i)) {
                all += columns;
                saved += saves ? columns : 0.0;
                saves = !saves;
            }
            shares[i] = saved / all;
        }
    }
    return shares;
}

Kept alternately_kept(const LayerKind& kind, const LayerShape& shape)
{
    const Extent extent(shape, kind.tokens);
    const std::vector<double> shares = alternately_saved(kind);
    Kept all{.numbers = extent.numbers(Place::sequence, kind.width)};
    for (std::size_t i = 0; i < shares.size(); ++i) {
        const double numbers = std::visit(
            [&extent]<class Op>(const Op& op) {
                if constexpr (requires { result_numbers(op, extent); }) {
                    return result_numbers(op, extent);
                } else {
                    return 0.0;
                }
            },
            kind.operators[i]);
        all.numbers += shares[i] * numbers;
        all.bytes += sums_bytes(kind.operators[i], extent);
    }
    return all;
}

Calls alternate_calls(const LayerKind& kind, const LayerShape& shape)
{
    const std::vector<double> shares = alternately_saved(kind);
    LayerKind again = kind;
    again.operators.clear();
    for (std::size_t i = 0; i + 1 < shares.size(); ++i) {  // no one reads the last result
        if (shares[i] == 1.0) {
            continue;
        }
        Operator op = kind.operators[i];
        if (auto* linear = std::get_if<Linear>(&op); linear != nullptr && shares[i] > 0.0) {
            linear->out = (1.0 - shares[i]) * linear->out.whole();
        }
        again.operators.push_back(op);
    }
    return forward_calls(again, shape);
}

}  // namespace prismopt
