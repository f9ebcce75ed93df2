#include "model/numerics/random_tensor.hpp"

#include "model/base/parallel.hpp"
#include "model/base/random.hpp"

#include <boost/math/distributions/normal.hpp>

namespace prismopt {

namespace {

double uniform(std::uint32_t word) { return (word + 0.5) * 0x1p-32; }
double normal(std::uint32_t word) { return boost::math::quantile(boost::math::normal(), uniform(word)); }

double random_element(Elements elements, const std::array<std::uint32_t, 4>& words)
{
    switch (elements) {
        case Elements::normal: return normal(words[0]);
        case Elements::uniform: return uniform(words[0]);
        case Elements::outliers:
            return normal(words[0]) + (uniform(words[1]) < 1e-3 ? 10.0 * normal(words[2]) : 0.0);
    }
    return 0.0;
}

}  // namespace

Matrix<float> random_tensor(const RandomTensor& of, std::size_t rows, std::size_t columns)
{
    Matrix<float> result(rows, columns);
    parallel_for(static_cast<std::int64_t>(rows), [&](int, std::int64_t row) {
        const auto out = result.row(static_cast<std::size_t>(row));
        for (std::size_t column = 0; column < columns; ++column) {
            const auto words =
                philox(of.seed, {static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(column), 0,
                                 use(Stream::tensors, Purpose::search, of.tensor)});
            out[column] = static_cast<float>(of.factor * random_element(of.elements, words));
        }
    });
    return result;
}

}  // namespace prismopt
