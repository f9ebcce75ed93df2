/// Any bytes as a scenario: read or refused with its line, and what is read can be searched. libFuzzer's
/// entry; see tests/fuzz/README.md.

#include "io/base/input_error.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario.hpp"
#include "optimizer/study/worker.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace prismopt;
    const std::string text(data, data + size);
    try {
        const Scenario scenario = parse_scenario(text, "fuzz.toml");
        // one in so many: tables of distributions take longer than reading does
        constexpr std::size_t searched = 64;
        if (std::hash<std::string>{}(text) % searched == 0) {
            constexpr std::uint64_t looked_at = 256;
            const StudyModel model(scenario);
            Worker(model).sweep(
                {.begin = 0, .end = std::min(looked_at, model.designs.space().size()), .keep = looked_at});
        }
    } catch (const InputError& error) {
        const std::string message = error.what();
        if (!message.starts_with("fuzz.toml:") || message.starts_with("fuzz.toml:0:")) {
            std::abort();  // a refusal names the line
        }
    }
    return 0;
}
