#include "search/dice.hpp"

#include <algorithm>

namespace prismopt {

std::uint32_t Dice::word()
{
    const std::size_t place = thrown_ % words_.size();
    if (place == 0) {
        const auto event = static_cast<std::uint32_t>(thrown_ / words_.size());
        words_ = philox(seed_, {choice_, 0, event, use(Stream::strategy, Purpose::search)});
    }
    ++thrown_;
    return words_[place];
}

double Dice::uniform()
{
    constexpr double words = 4294967296.0;  // 2^32
    constexpr double most = 1.0 - 0x1p-53;  // the sum may round up to one
    const double high = word();
    return std::min((high + static_cast<double>(word()) / words) / words, most);
}

std::size_t Dice::below(std::size_t count) { return static_cast<std::size_t>(uniform() * static_cast<double>(count)); }

}  // namespace prismopt
