#include "io/traces/process_group.hpp"

#include "model/base/words.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace prismopt {

std::string process_group_words(const std::string& description)
{
    struct Meaning {
        const char* word;
        const char* role;
    };
    // Groups that are several at once ("DATA_PARALLEL_GROUP_WITH_CP") are what the
    // step's end has: replicas come first.
    constexpr const char* data = "of a data-parallel group";
    constexpr const char* tensor = "of a tensor-parallel group";
    constexpr const char* context = "of a context-parallel group";
    constexpr const char* expert = "of an expert-parallel group";
    constexpr std::array meanings{Meaning{"data", data},  Meaning{"dp", data},
                                  Meaning{"fsdp", data},  Meaning{"hsdp", data},
                                  Meaning{"ddp", data},   Meaning{"tensor", tensor},
                                  Meaning{"tp", tensor},  Meaning{"context", context},
                                  Meaning{"cp", context}, Meaning{"expert", expert},
                                  Meaning{"ep", expert},  Meaning{"sequence", context},
                                  Meaning{"sp", context}};
    const std::vector<std::string> words = letter_words(description);
    for (const Meaning& meaning : meanings) {
        if (std::find(words.begin(), words.end(), meaning.word) != words.end()) {
            return meaning.role;
        }
    }
    return "";
}

}  // namespace prismopt
