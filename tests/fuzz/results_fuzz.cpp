/// Any bytes as a results file: read or refused with its name, never a crash. libFuzzer's
/// entry; see tests/fuzz/README.md.
///
/// The seal keeps most damage from the parser, so that the bytes are read without one: as an older file,
/// and behind a seal that fits them.

#include "io/base/checksum.hpp"
#include "io/base/input_error.hpp"
#include "io/results/results_file.hpp"
#include "tests/fuzz/input_file.hpp"

#include <span>
#include <vector>

namespace {

void read(const std::uint8_t* data, std::size_t size)
{
    using namespace prismopt;
    static const std::string path = own_path(".h5");
    try {
        read_results(input_file(data, size, path));
    } catch (const InputError& error) {
        if (std::string(error.what()).find(path) == std::string::npos) {
            std::abort();  // a refusal names the file
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace prismopt;
    const bool sealed = size > seal_bytes && data[0] == 'P';
    const std::span<const std::uint8_t> content(data + (sealed ? seal_bytes : 0),
                                                size - (sealed ? seal_bytes : 0));
    read(content.data(), content.size());
    const Seal seal = seal_of(std::as_bytes(content));
    std::vector<std::uint8_t> file;
    for (const std::byte byte : seal) {
        file.push_back(std::to_integer<std::uint8_t>(byte));
    }
    file.insert(file.end(), content.begin(), content.end());
    read(file.data(), file.size());
    return 0;
}
