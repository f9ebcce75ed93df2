#pragma once

#include "optimizer/parallel/communicator.hpp"

#include <cstring>

namespace prismopt {

/// All ranks of the test program. A test begins with `team().broadcast({})`: rank 0
/// has then left the test before.
Communicator& team();

template <class T>
Message message_of(const T& value)
{
    Message message(sizeof value);
    std::memcpy(message.data(), &value, sizeof value);
    return message;
}

template <class T>
T value_of(const Message& message)
{
    T value{};
    if (message.size() == sizeof value) {
        std::memcpy(&value, message.data(), sizeof value);
    }
    return value;
}

}  // namespace prismopt
