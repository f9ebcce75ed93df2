#pragma once

/// Serialisation of plain values, for messages between ranks and for the journal.

#include "optimizer/parallel/communicator.hpp"

#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace prismopt {

class Packer {
public:
    template <class T>
    requires std::is_trivially_copyable_v<T> Packer& operator<<(const T& value)
    {
        const auto* raw = reinterpret_cast<const std::byte*>(&value);
        bytes_.insert(bytes_.end(), raw, raw + sizeof value);
        return *this;
    }
    Packer& operator<<(const std::string& text) { return *this << std::span<const char>(text); }
    template <class T>
    Packer& operator<<(const std::vector<T>& values)
    {
        return *this << std::span<const T>(values);
    }
    template <class T>
    Packer& operator<<(std::span<const T> values)
    {
        *this << static_cast<std::uint64_t>(values.size());
        if constexpr (std::is_trivially_copyable_v<T>) {
            const auto raw = std::as_bytes(values);
            bytes_.insert(bytes_.end(), raw.begin(), raw.end());
        } else {
            for (const T& value : values) {
                *this << value;
            }
        }
        return *this;
    }
    Message take() { return std::move(bytes_); }

private:
    Message bytes_;
};

/// Reads values back. Throws std::runtime_error if the bytes are truncated.
class Unpacker {
public:
    explicit Unpacker(std::span<const std::byte> bytes) : bytes_(bytes) {}

    template <class T>
    requires std::is_trivially_copyable_v<T> Unpacker& operator>>(T& value)
    {
        if (bytes_.size() < sizeof value) {
            throw std::runtime_error("a message or journal record is truncated");
        }
        std::memcpy(&value, bytes_.data(), sizeof value);
        bytes_ = bytes_.subspan(sizeof value);
        return *this;
    }
    Unpacker& operator>>(std::string& text)
    {
        std::vector<char> letters;
        *this >> letters;
        text.assign(letters.begin(), letters.end());
        return *this;
    }
    template <class T>
    Unpacker& operator>>(std::vector<T>& values)
    {
        std::uint64_t count = 0;
        *this >> count;
        values.clear();
        if constexpr (std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>) {
            if (bytes_.size() / sizeof(T) < count) {
                throw std::runtime_error("a message or journal record is truncated");
            }
            values.resize(count);
            if (count > 0) {
                std::memcpy(values.data(), bytes_.data(), count * sizeof(T));
            }
            bytes_ = bytes_.subspan(count * sizeof(T));
            return *this;
        }
        for (std::uint64_t i = 0; i < count; ++i) {
            T value{};
            *this >> value;
            values.push_back(std::move(value));
        }
        return *this;
    }
    bool empty() const { return bytes_.empty(); }

private:
    std::span<const std::byte> bytes_;
};

}  // namespace prismopt
