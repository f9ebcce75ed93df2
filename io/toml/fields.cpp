#include "io/toml/fields.hpp"

namespace prismopt {

std::string in_quotes(std::string_view text) { return fmt::format("\"{}\"", text); }

ValueShape entry_shape(std::string_view kind)
{
    const auto names = [kind = std::string(kind)] { return Catalog::built_in().names(kind); };
    ValueShape shape = choice_shape(names);
    shape.open = true;
    return shape;
}

std::string KeyInfo::line() const
{
    const bool heading = example.size() > 1 && example[0] == '[' &&
                         (example[1] == '[' || (example[1] >= 'a' && example[1] <= 'z'));
    return heading ? example : key + " = " + example;
}

SectionTable& SectionTable::add(KeyInfo info)
{
    keys_.push_back(std::move(info));
    return *this;
}

std::string SectionTable::example() const
{
    std::string text;
    for (const KeyInfo& key : keys_) {
        if (key.required()) {
            text += (text.empty() ? "" : ", ") + key.line();
        }
    }
    if (text.empty() && !keys_.empty()) {
        text = keys_.front().line();
    }
    return "{ " + text + " }";
}

}  // namespace prismopt
