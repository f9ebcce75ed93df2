/// Any bytes as the config.json of a network, and as a captured network: read or refused with the file's
/// name, never a crash. libFuzzer's entry; see tests/fuzz/README.md.

#include "io/authoring/imported/imported_network.hpp"
#include "io/base/input_error.hpp"
#include "io/scenario/files/captured_network.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

template <class Read>
void read(const Read& reader)
{
    try {
        reader();
    } catch (const prismopt::InputError& error) {
        if (std::string(error.what()).find("fuzz.json") == std::string::npos) {
            std::abort();  // a refusal names the file
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace prismopt;
    const std::string text(data, data + size);
    read([&text] { workload_text(imported_network(text, "fuzz.json")); });
    read([&text] { parse_captured_network(text, "fuzz.json"); });
    return 0;
}
