#pragma once

/// Columns of numbers as arrays of numpy.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <utility>
#include <vector>

namespace prismopt::python {

/// An array that owns the numbers.
template <class Number>
pybind11::array_t<Number> array_of(std::vector<Number> numbers)
{
    auto owner = std::make_unique<std::vector<Number>>(std::move(numbers));
    const Number* data = owner->data();
    const auto size = static_cast<pybind11::ssize_t>(owner->size());
    const pybind11::capsule free(owner.release(),
                                 [](void* kept) { delete static_cast<std::vector<Number>*>(kept); });
    return pybind11::array_t<Number>(size, data, free);
}

/// An array of numbers that `owner` keeps. It cannot be written to.
inline pybind11::array_t<double> view_of(const std::vector<double>& numbers, const pybind11::handle& owner)
{
    pybind11::array_t<double> view(static_cast<pybind11::ssize_t>(numbers.size()), numbers.data(), owner);
    view.attr("flags").attr("writeable") = false;
    return view;
}

}  // namespace prismopt::python
