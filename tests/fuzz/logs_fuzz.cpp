/// Any bytes as the log of a trainer, in pieces as a growing file delivers them: read or refused with the
/// line, never a crash. libFuzzer's entry; see tests/fuzz/README.md.

#include "io/base/input_error.hpp"
#include "io/logs/log_reader.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace prismopt;
    const std::string text(data, data + size);
    for (const std::size_t piece : {std::size_t{7}, std::max<std::size_t>(size, 1)}) {
        try {
            LogReader reader({.path = "fuzz.log",
                              .trainer = "",
                              .tokens_per_step = 4e6,
                              .sequences_per_step = 1024.0,
                              .gpus = 64});
            for (std::size_t at = 0; at < text.size(); at += piece) {
                reader.add(std::string_view(text).substr(at, piece));
            }
            reader.finish();
            for (const LoggedStep& step : reader.drain()) {
                if (!(step.seconds > 0.0) || !std::isfinite(step.seconds) || step.steps < 1) {
                    std::abort();  // no such step
                }
            }
        } catch (const InputError& error) {
            if (!std::string(error.what()).starts_with("fuzz.log:")) {
                std::abort();  // a refusal names the line
            }
        }
    }
    return 0;
}
