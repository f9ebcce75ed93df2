#include "model/calibration/records/kernel_names.hpp"

#include "model/base/words.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace prismopt {

namespace {

/// A part of a name, and what it says beyond the class of its row.
template <class Meaning>
struct NamePart {
    const char* part;
    Meaning meaning;
};
template <class Meaning>
NamePart(const char*, Meaning) -> NamePart<Meaning>;

constexpr std::array group_words{NamePart{"of a data-parallel group", ProcessGroup::data},
                                 NamePart{"of a tensor-parallel group", ProcessGroup::tensor},
                                 NamePart{"of a context-parallel group", ProcessGroup::context},
                                 NamePart{"of an expert-parallel group", ProcessGroup::expert},
                                 NamePart{"tp-all", ProcessGroup::tensor},
                                 NamePart{"tp_all", ProcessGroup::tensor}};

constexpr std::array collective_words{NamePart{"allreduce", Collective::all_reduce},
                                      NamePart{"allgather", Collective::all_gather},
                                      NamePart{"reducescatter", Collective::reduce_scatter},
                                      NamePart{"alltoall", Collective::all_to_all}};

/// The narrowest class within `root` that the name tells: by the group and the kind of a collective.
KernelClass narrowed(KernelClass root, const std::string& lower)
{
    std::optional<ProcessGroup> group =
        root == KernelClass::dp_collective ? std::optional(ProcessGroup::data) : std::nullopt;
    for (const auto& [part, named] : group_words) {
        if (!group && root == KernelClass::tp_collective && lower.find(part) != std::string::npos) {
            group = named;
        }
    }
    if (!group) {
        return root;
    }
    std::string letters = lower;
    std::erase_if(letters, [](char c) { return c == '-' || c == '_'; });
    for (const auto& [part, kind] : collective_words) {
        if (letters.find(part) != std::string::npos) {
            return class_of(*group, kind);
        }
    }
    const bool passed_on =
        letters.find("send") != std::string::npos || letters.find("recv") != std::string::npos;
    return passed_on && group == ProcessGroup::context ? KernelClass::context_p2p : class_of(*group);
}

/// The name without the first word of its direction: "-" of both "-send" and "-recv". Empty if it has no such word.
std::string transfer_in(const std::string& lower, OpRole role)
{
    constexpr std::array directions{NamePart{"send", OpRole::send}, NamePart{"receive", OpRole::receive},
                                    NamePart{"recv", OpRole::receive}};
    for (const auto& [part, direction] : directions) {
        const std::size_t place = lower.find(part);
        if (direction == role && place != std::string::npos) {
            return lower.substr(0, place) + ' ' + lower.substr(place + std::string_view(part).size());
        }
    }
    return "";
}

bool matches(const KernelName& row, const std::string& lower)
{
    std::size_t place = 0;
    for (const std::string& part : row.parts) {
        place = lower.find(part, place);
        if (place == std::string::npos) {
            return false;
        }
        place += part.size();
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
            row.parts.push_back(lower.substr(begin, end - begin));
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
