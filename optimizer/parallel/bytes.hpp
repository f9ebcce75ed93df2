#pragma once

/// Serialisation of values, for messages between ranks and for the journal.
///
/// Trivially copyable values travel as they are, strings and lists with their size in front, variants with
/// their index. Another type lists its members once, for both directions:
///
///     template <Of<Bound> T>
///     auto members(T& bound) { return std::tie(bound.index, bound.objectives); }

#include "optimizer/parallel/communicator.hpp"

#include <array>
#include <concepts>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>

namespace prismopt {

/// T is Type or const Type.
template <class T, class Type>
concept Of = std::same_as<std::remove_const_t<T>, Type>;

class Packer {
public:
    template <class T>
    Packer& operator<<(const T& value)
    {
        if constexpr (std::is_trivially_copyable_v<T>) {
            append(std::as_bytes(std::span(&value, 1)));
        } else {
            std::apply([this](const auto&... all) { (*this << ... << all); }, members(value));
        }
        return *this;
    }
    Packer& operator<<(const std::string& text) { return list(std::span<const char>(text)); }
    template <class T>
    Packer& operator<<(const std::vector<T>& values)
    {
        return list(std::span<const T>(values));
    }
    template <class... T>
    Packer& operator<<(const std::variant<T...>& value)
    {
        *this << static_cast<std::uint8_t>(value.index());
        return std::visit([this](const auto& held) -> Packer& { return *this << held; }, value);
    }
    Message release() { return std::move(bytes_); }

private:
    template <class T>
    Packer& list(std::span<const T> values)
    {
        *this << static_cast<std::uint64_t>(values.size());
        if constexpr (std::is_trivially_copyable_v<T>) {
            append(std::as_bytes(values));
        } else {
            for (const T& value : values) {
                *this << value;
            }
        }
        return *this;
    }
    void append(std::span<const std::byte> raw)
    {
        const std::size_t before = bytes_.size();
        bytes_.resize(before + raw.size());
        if (!raw.empty()) {
            std::memcpy(bytes_.data() + before, raw.data(), raw.size());
        }
    }

    Message bytes_;
};

/// Reads values back. Throws std::runtime_error if the bytes are truncated or
/// name no alternative of a variant. The bytes must outlive it.
class Unpacker {
public:
    explicit Unpacker(std::span<const std::byte> bytes) : bytes_(bytes) {}

    template <class T>
    Unpacker& operator>>(T& value)
    {
        if constexpr (std::is_trivially_copyable_v<T>) {
            read_bytes(std::as_writable_bytes(std::span(&value, 1)));
        } else {
            std::apply([this](auto&... all) { (*this >> ... >> all); }, members(value));
        }
        return *this;
    }
    Unpacker& operator>>(std::string& text) { return list(text); }
    template <class T>
    Unpacker& operator>>(std::vector<T>& values)
    {
        return list(values);
    }
    template <class... T>
    Unpacker& operator>>(std::variant<T...>& value)
    {
        std::uint8_t index = 0;
        *this >> index;
        if (index >= sizeof...(T)) {
            throw std::runtime_error("a message or journal record is of an unknown kind");
        }
        value = std::array<std::variant<T...>, sizeof...(T)>{T{}...}[index];
        std::visit([this](auto& held) { *this >> held; }, value);
        return *this;
    }
    bool empty() const { return bytes_.empty(); }

private:
    template <class List>
    Unpacker& list(List& values)
    {
        using Element = typename List::value_type;
        std::uint64_t count = 0;
        *this >> count;
        if (std::is_trivially_copyable_v<Element> && count > bytes_.size() / sizeof(Element)) {
            throw truncated();
        }
        values.clear();
        if constexpr (std::is_trivially_copyable_v<Element>) {
            values.resize(count);
            read_bytes(std::as_writable_bytes(std::span(values)));
        } else {
            for (std::uint64_t i = 0; i < count; ++i) {
                *this >> values.emplace_back();
            }
        }
        return *this;
    }
    void read_bytes(std::span<std::byte> raw)
    {
        if (raw.size() > bytes_.size()) {
            throw truncated();
        }
        if (!raw.empty()) {
            std::memcpy(raw.data(), bytes_.data(), raw.size());
        }
        bytes_ = bytes_.subspan(raw.size());
    }
    static std::runtime_error truncated()
    {
        return std::runtime_error("a message or journal record is truncated");
    }

    std::span<const std::byte> bytes_;
};

template <class T>
Message encode(const T& value)
{
    return (Packer() << value).release();
}

template <class T>
T decode(std::span<const std::byte> bytes)
{
    T value{};
    Unpacker(bytes) >> value;
    return value;
}

}  // namespace prismopt
