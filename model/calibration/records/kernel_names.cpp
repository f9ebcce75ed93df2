#include "model/calibration/records/kernel_names.hpp"

#include "model/base/words.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace prismopt {

namespace {

/// A part of a name, and what it says beyond the class of its row.
template <class Meaning>
struct Keyword {
    const char* word;
    Meaning meaning;
};
template <class Meaning>
Keyword(const char*, Meaning) -> Keyword<Meaning>;

constexpr std::array group_words{Keyword{"of a data-parallel group", ProcessGroup::data},
                                 Keyword{"of a tensor-parallel group", ProcessGroup::tensor},
                                 Keyword{"of a context-parallel group", ProcessGroup::context},
                                 Keyword{"of an expert-parallel group", ProcessGroup::expert},
                                 Keyword{"tp-all", ProcessGroup::tensor},
                                 Keyword{"tp_all", ProcessGroup::tensor}};

constexpr std::array collective_words{Keyword{"allreduce", Collective::all_reduce},
                                      Keyword{"allgather", Collective::all_gather},
                                      Keyword{"reducescatter", Collective::reduce_scatter},
                                      Keyword{"alltoall", Collective::all_to_all}};

/// The narrowest class within `root` that the name states: by the group and the kind of a collective.
KernelClass narrowed(KernelClass root, const std::string& lower)
{
    std::optional<ProcessGroup> group =
        root == KernelClass::dp_collective ? std::optional(ProcessGroup::data) : std::nullopt;
    for (const auto& [word, named] : group_words) {
        if (!group && root == KernelClass::tp_collective && lower.find(word) != std::string::npos) {
            group = named;
        }
    }
    if (!group) {
        return root;
    }
    std::string letters = lower;
    std::erase_if(letters, [](char c) { return c == '-' || c == '_'; });
    for (const auto& [word, kind] : collective_words) {
        if (letters.find(word) != std::string::npos) {
            return class_of(*group, kind);
        }
    }
    const bool passed_on =
        letters.find("send") != std::string::npos || letters.find("recv") != std::string::npos;
    return passed_on && group == ProcessGroup::context ? KernelClass::context_p2p : class_of(*group);
}

/// The name without the first word of its direction: "-" of both "-send" and
/// "-recv". Empty if it has no such word.
std::string transfer_in(const std::string& lower, OpRole role)
{
    constexpr std::array directions{Keyword{"send", OpRole::send}, Keyword{"receive", OpRole::receive},
                                    Keyword{"recv", OpRole::receive}};
    for (const auto& [word, direction] : directions) {
        const std::size_t place = lower.find(word);
        if (direction == role && place != std::string::npos) {
            return lower.substr(0, place) + ' ' + lower.substr(place + std::string_view(word).size());
        }
    }
    return "";
}

bool matches(const KernelName& row, const std::string& lower)
{
    std::size_t place = 0;
    for (const std::string& fragment : row.fragments) {
        place = lower.find(fragment, place);
        if (place == std::string::npos) {
            return false;
        }
        place += fragment.size();
    }
    return true;
}

}  // namespace

OpRole usual_role(KernelClass kernel)
{
    switch (outermost(kernel)) {
        case KernelClass::p2p: return OpRole::send;
        case KernelClass::tp_collective:
        case KernelClass::dp_collective: return OpRole::collective;
        default: return OpRole::compute;
    }
}

KernelName kernel_name(const std::string& pattern, KernelClass kernel, std::optional<OpRole> role)
{
    KernelName row{{}, kernel, role.value_or(usual_role(kernel))};
    const std::string lower = lower_case(pattern);
    for (std::size_t begin = 0; begin <= lower.size();) {
        const std::size_t end = std::min(lower.find('*', begin), lower.size());
        if (end > begin) {
            row.fragments.push_back(lower.substr(begin, end - begin));
        }
        begin = end + 1;
    }
    return row;
}

OpKind op_kind(const std::string& name, const KernelNames& names)
{
    const std::string lower = lower_case(name);
    const auto row =
        std::find_if(names.begin(), names.end(), [&](const KernelName& r) { return matches(r, lower); });
    if (row == names.end()) {
        return {.name = name, .known = false};
    }
    const bool one_way = row->role == OpRole::send || row->role == OpRole::receive;
    return {.name = name,
            .role = row->role,
            .kernel = one_way ? row->kernel : narrowed(row->kernel, lower),
            .transfer = one_way ? transfer_in(lower, row->role) : ""};
}

}  // namespace prismopt
