#pragma once

/// Physical quantities in the interfaces of the model. A Quantity is an SI number with a dimension: products
/// and quotients combine dimensions, sums need equal ones. Tight loops use plain doubles whose names end in a
/// unit (`finish_s`). All conversion factors are defined here.

#include <compare>

namespace prismopt {

/// Dimension exponents: seconds, bytes, floating-point operations, joules, US dollars.
template <int Time, int Data, int Work, int Energy, int Money>
struct Quantity {
    double si = 0.0;

    constexpr auto operator<=>(const Quantity&) const = default;
    constexpr Quantity& operator+=(Quantity other)
    {
        si += other.si;
        return *this;
    }
};

using Seconds = Quantity<1, 0, 0, 0, 0>;
using Bytes = Quantity<0, 1, 0, 0, 0>;
using Flops = Quantity<0, 0, 1, 0, 0>;
using Joules = Quantity<0, 0, 0, 1, 0>;
using Dollars = Quantity<0, 0, 0, 0, 1>;
using BytesPerSecond = Quantity<-1, 1, 0, 0, 0>;
using FlopsPerSecond = Quantity<-1, 0, 1, 0, 0>;
using Watts = Quantity<-1, 0, 0, 1, 0>;
using DollarsPerSecond = Quantity<-1, 0, 0, 0, 1>;
using DollarsPerJoule = Quantity<0, 0, 0, -1, 1>;
using JoulesPerFlop = Quantity<0, 0, -1, 1, 0>;
using JoulesPerByte = Quantity<0, -1, 0, 1, 0>;
using PerSecond = Quantity<-1, 0, 0, 0, 0>;
/// Carbon intensity of electricity, in kilograms of carbon dioxide equivalent per joule.
struct CarbonIntensity {
    double si = 0.0;
};

template <int... D>
constexpr Quantity<D...> operator+(Quantity<D...> a, Quantity<D...> b)
{
    return {a.si + b.si};
}
template <int... D>
constexpr Quantity<D...> operator-(Quantity<D...> a, Quantity<D...> b)
{
    return {a.si - b.si};
}
template <int... D>
constexpr Quantity<D...> operator*(double factor, Quantity<D...> q)
{
    return {factor * q.si};
}
template <int... D>
constexpr Quantity<D...> operator*(Quantity<D...> q, double factor)
{
    return {q.si * factor};
}
template <int... D>
constexpr Quantity<D...> operator/(Quantity<D...> q, double divisor)
{
    return {q.si / divisor};
}
template <int... A, int... B>
constexpr Quantity<(A + B)...> operator*(Quantity<A...> a, Quantity<B...> b)
{
    return {a.si * b.si};
}
template <int... A, int... B>
constexpr Quantity<(A - B)...> operator/(Quantity<A...> a, Quantity<B...> b)
{
    return {a.si / b.si};
}
/// Ratio of quantities of equal dimension: a plain number.
template <int... D>
constexpr double operator/(Quantity<D...> a, Quantity<D...> b)
{
    return a.si / b.si;
}

namespace literals {

constexpr Bytes operator""_GB(long double n) { return {static_cast<double>(n) * 1e9}; }
constexpr Bytes operator""_GB(unsigned long long n) { return {static_cast<double>(n) * 1e9}; }
constexpr Bytes operator""_GiB(long double n) { return {static_cast<double>(n) * 0x1p30}; }
constexpr Bytes operator""_GiB(unsigned long long n) { return {static_cast<double>(n) * 0x1p30}; }
constexpr Seconds operator""_us(unsigned long long n) { return {static_cast<double>(n) * 1e-6}; }
constexpr Seconds operator""_s(unsigned long long n) { return {static_cast<double>(n)}; }
constexpr Seconds operator""_h(unsigned long long n) { return {static_cast<double>(n) * 3600.0}; }
constexpr Seconds operator""_day(unsigned long long n) { return {static_cast<double>(n) * 86400.0}; }
constexpr BytesPerSecond operator""_GB_per_s(unsigned long long n) { return {static_cast<double>(n) * 1e9}; }
constexpr FlopsPerSecond operator""_TFLOP_per_s(unsigned long long n)
{
    return {static_cast<double>(n) * 1e12};
}
constexpr JoulesPerFlop operator""_pJ_per_FLOP(unsigned long long n)
{
    return {static_cast<double>(n) * 1e-12};
}
constexpr JoulesPerByte operator""_pJ_per_bit(unsigned long long n)
{
    return {static_cast<double>(n) * 8e-12};
}
constexpr JoulesPerByte operator""_pJ_per_bit(long double n) { return {static_cast<double>(n) * 8e-12}; }

}  // namespace literals

}  // namespace prismopt
