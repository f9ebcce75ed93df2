#include "search/search_random.hpp"

#include <algorithm>

namespace prismopt {

std::uint32_t SearchRandom::word()
{
    const std::size_t place = used_ % words_.size();
    if (place == 0) {
        const auto event = static_cast<std::uint32_t>(used_ / words_.size());
        words_ = philox(seed_, {choice_, 0, event, use(Stream::strategy, Purpose::search)});
    }
    ++used_;
    return words_[place];
}

double SearchRandom::uniform()
{
    constexpr double words = 4294967296.0;  // 2^32
    constexpr double most = 1.0 - 0x1p-53;  // the sum may round up to one
    const double high = word();
    return std::min((high + static_cast<double>(word()) / words) / words, most);
}

std::size_t SearchRandom::below(std::size_t count)
{
    return static_cast<std::size_t>(uniform() * static_cast<double>(count));
}

}  // namespace prismopt
