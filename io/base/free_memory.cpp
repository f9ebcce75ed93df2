#include "io/base/free_memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace prismopt {

namespace {

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

std::uint64_t difference(std::uint64_t whole, std::uint64_t used) { return whole > used ? whole - used : 0; }

/// The number after a word at the beginning of a line; that of the first line for an empty word.
std::optional<std::uint64_t> number_in_file(const std::filesystem::path& path, const std::string& word)
{
    std::ifstream file(path);
    std::string first;
    std::uint64_t value = 0;
    if (word.empty()) {
        return file >> value ? std::optional(value) : std::nullopt;  // "max" is none
    }
    while (file >> first) {
        if (first == word) {
            return file >> value ? std::optional(value) : std::nullopt;
        }
        file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    return std::nullopt;
}

/// Pages in the two first fields of /proc/self/statm: address space, and what is in memory (proc(5)).
struct Pages {
    std::uint64_t address_space = 0, resident = 0;
};
Pages pages_of_process()
{
    Pages pages;
    std::ifstream("/proc/self/statm") >> pages.address_space >> pages.resident;
    return pages;
}

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

/// What the control groups of this process leave it; cached files are no use of memory
/// (kernel.org, admin-guide/cgroup-v2).
std::uint64_t free_in_groups()
{
    const std::filesystem::path root = "/sys/fs/cgroup";
    std::ifstream file("/proc/self/cgroup");
    std::uint64_t least = no_limit;
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("0::/")) {
            continue;
        }
        for (std::filesystem::path group = line.substr(3);; group = group.parent_path()) {
            const std::filesystem::path folder = root / group.relative_path();
            const auto most = number_in_file(folder / "memory.max", "");
            const auto used = number_in_file(folder / "memory.current", "");
            if (most && used) {
                const std::uint64_t cached = number_in_file(folder / "memory.stat", "file").value_or(0);
                least = std::min(least, difference(*most, difference(*used, cached)));
            }
            if (group == group.parent_path()) {
                break;
            }
        }
    }
    return least;
}

}  // namespace

std::uint64_t resident_memory() { return pages_of_process().resident * page_bytes(); }

std::uint64_t free_memory()
{
    constexpr std::uint64_t kib = 1024;
    std::uint64_t least = free_in_groups();
    if (const auto available = number_in_file("/proc/meminfo", "MemAvailable:")) {
        least = std::min(least, *available * kib);
    }
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        least = std::min(least, difference(limit.rlim_cur, pages_of_process().address_space * page_bytes()));
    }
    return least;
}

}  // namespace prismopt
