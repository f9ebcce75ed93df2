# Writes OUTPUT, a C++ source that holds each of FILES (a ;-list of TOML files) byte for byte. Bytes and not string literals, because
# CMake lists trip over ; [ ] and backslashes in a file's content, and compilers need not accept literals longer than 64 KiB.
set(arrays "")
set(rows "")
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME)
  string(MAKE_C_IDENTIFIER "${name}" identifier)
  file(READ "${file}" bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(REPLACE "0x0a," "0x0a,\n" bytes "${bytes}")
  # The closing zero is not part of the text; it keeps the array of an empty file legal.
  string(APPEND arrays "constexpr unsigned char ${identifier}[] = {\n${bytes}0x00};\n\n")
  string(APPEND rows "        {\"${name}\", text(${identifier}, sizeof(${identifier}) - 1)},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Generated from model/catalog/*.toml.
#include \"io/catalog.hpp\"

namespace prismopt {

namespace {

${arrays}std::string text(const unsigned char* bytes, std::size_t size)
{
    return {bytes, bytes + size};
}

}  // namespace

std::vector<CatalogFile> catalog_files()
{
    return {
${rows}    };
}

}  // namespace prismopt
")
