#include "io/traces/process_group.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace prismopt {

std::string process_group_words(const std::string& description)
{
    struct Meaning {
        const char* word;
        const char* role;
    };
    // Groups that are several at once ("DATA_PARALLEL_GROUP_WITH_CP") are what the step's end has: replicas come first.
    constexpr const char* data = "of a data-parallel group";
    constexpr const char* tensor = "of a tensor-parallel group";
    constexpr const char* context = "of a context-parallel group";
    constexpr const char* expert = "of an expert-parallel group";
    constexpr std::array meanings{Meaning{"data", data},     Meaning{"dp", data},         Meaning{"fsdp", data},
                                  Meaning{"hsdp", data},     Meaning{"ddp", data},        Meaning{"tensor", tensor},
                                  Meaning{"tp", tensor},     Meaning{"context", context}, Meaning{"cp", context},
                                  Meaning{"expert", expert}, Meaning{"ep", expert},       Meaning{"sequence", context},
                                  Meaning{"sp", context}};
    std::vector<std::string> words(1);
    for (const char c : description) {
        if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
            words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        } else if (!words.back().empty()) {
            words.emplace_back();
        }
    }
    for (const Meaning& meaning : meanings) {
        if (std::find(words.begin(), words.end(), meaning.word) != words.end()) {
            return meaning.role;
        }
    }
    return "";
}

}  // namespace prismopt
