/// Any bytes as learned constants: read or refused with the line, never a crash, and what is read is written
/// the same way. libFuzzer's entry; see tests/fuzz/README.md.

#include "io/base/input_error.hpp"
#include "io/scenario/constants/learned.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace prismopt;
    std::string text(data, data + size);
    if (const std::size_t fit = text.find("FIT"); fit != std::string::npos) {
        text.replace(fit, 3, fit_digest());  // which the corpus cannot know
    }
    try {
        const std::string written = learned_text(parse_learned(text, "fuzz.toml"));
        if (learned_text(parse_learned(written, "fuzz.toml")) != written) {
            std::abort();  // values change on the way
        }
    } catch (const InputError& error) {
        if (!std::string(error.what()).starts_with("fuzz.toml:")) {
            std::abort();  // a refusal names the line
        }
    }
    return 0;
}
