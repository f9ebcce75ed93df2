#include "io/results/journal.hpp"
#include "io/base/input_error.hpp"

#include "tests/io/full_disk.hpp"
#include "tests/io/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fstream>
#include <iterator>

namespace prismopt {

namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::uint64_t study = 0x0123456789ABCDEF;
constexpr std::size_t header_bytes = 48;  // two copies
constexpr std::size_t record_head_bytes = 12;

std::vector<std::byte> payload(const std::string& text)
{
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    return {bytes, bytes + text.size()};
}

std::string journal_content(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void put_journal(const std::string& path, const std::string& bytes)
{
    std::ofstream file(path, std::ios::binary);
    file << bytes;
}

void write(const std::string& path, const std::vector<std::string>& texts)
{
    JournalWriter writer(path, study);
    for (const std::string& text : texts) {
        writer.append(payload(text));
    }
    writer.sync();
}

std::vector<std::string> texts(const JournalContents& contents)
{
    std::vector<std::string> all;
    for (const auto& record : contents.records) {
        all.emplace_back(reinterpret_cast<const char*>(record.data()), record.size());
    }
    return all;
}

template <class Error, class Call>
std::string message(const Call& call)
{
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

const std::vector<std::string> three{"first", "", "the third record"};

TEST(Journal, GivesBackItsRecords)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("a.journal");
    write(path, three);
    const JournalContents contents = read_journal(path);
    EXPECT_EQ(contents.study, study);
    EXPECT_EQ(texts(contents), three);
    EXPECT_EQ(contents.damage, "");
    EXPECT_EQ(contents.good_bytes, journal_content(path).size());
}

TEST(Journal, HasTheLayoutThatIsDocumented)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("a.journal");
    write(path, {"abc"});
    const std::string bytes = journal_content(path);
    // CRC-32 of the header's other 20 bytes, and of the bytes 03 00 00 00 'a' 'b'
    // 'c', from Python's zlib.crc32.
    const std::string header("PRISMJNL\x04\0\0\0\x55\xB0\xDC\xAE\xEF\xCD\xAB\x89\x67\x45\x23\x01",
                             header_bytes / 2);
    const std::string expected =
        header + header + std::string("PREC\x03\0\0\0\x33\x5D\xE1\x66", record_head_bytes);
    EXPECT_EQ(bytes.substr(0, expected.size()), expected);
    EXPECT_EQ(bytes.substr(header_bytes + record_head_bytes), "abc");
}

TEST(Journal, ContinuesBehindItsLastRecord)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("a.journal");
    write(path, {"first"});
    write(path, {"second"});
    EXPECT_EQ(texts(read_journal(path)), (std::vector<std::string>{"first", "second"}));
}

TEST(Journal, KeepsWhatIsBeforeACutAndContinuesThere)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("a.journal");
    write(path, three);
    const std::string whole = journal_content(path);
    const std::size_t last = whole.size() - three[2].size() - record_head_bytes;
    for (std::size_t size = last; size < whole.size(); ++size) {
        put_journal(path, whole.substr(0, size));
        const JournalContents contents = read_journal(path);
        EXPECT_EQ(texts(contents), (std::vector<std::string>{"first", ""})) << size;
        EXPECT_EQ(contents.good_bytes, last) << size;
        if (size == last) {
            EXPECT_EQ(contents.damage, "");
        } else {
            EXPECT_THAT(contents.damage,
                        AllOf(HasSubstr("record 2 at byte " + std::to_string(last)), HasSubstr("truncated")))
                << size;
        }
        write(path, {"again"});
        EXPECT_EQ(texts(read_journal(path)), (std::vector<std::string>{"first", "", "again"})) << size;
        EXPECT_EQ(read_journal(path).damage, "") << size;
    }
}

/// Whatever is damaged, the records behind it are found.
TEST(Journal, SkipsToTheNextGoodRecord)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("a.journal");
    const std::vector<std::string> all{"first", "PREC, as a record begins", "", "the fourth record"};
    write(path, all);
    const std::string whole = journal_content(path);
    std::size_t begin = header_bytes;
    for (std::size_t bad = 0; bad < all.size(); ++bad) {
        const std::size_t size = record_head_bytes + all[bad].size();
        std::vector<std::string> others = all;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(bad));
        for (std::size_t byte = begin; byte < begin + size; ++byte) {
            std::string bytes = whole;
            bytes[byte] = static_cast<char>(~bytes[byte]);
            put_journal(path, bytes);
            const JournalContents contents = read_journal(path);
            EXPECT_EQ(texts(contents), others) << byte;
            EXPECT_EQ(contents.lost_bytes, size) << byte;
            EXPECT_THAT(contents.damage,
                        HasSubstr("record " + std::to_string(bad) + " at byte " + std::to_string(begin)))
                << byte;
        }
        put_journal(path, whole.substr(0, begin) + whole.substr(begin + size / 2));  // bytes are missing
        EXPECT_EQ(texts(read_journal(path)), others) << bad;
        write(path, {"again"});
        others.emplace_back("again");
        EXPECT_EQ(texts(read_journal(path)), others) << bad;
        begin += size;
    }
}

TEST(Journal, NoticesEachFlippedBitOfARecord)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("a.journal");
    write(path, three);
    const std::string whole = journal_content(path);
    const std::size_t last = whole.size() - three[2].size() - record_head_bytes;
    for (std::size_t bit = 8 * last; bit < 8 * whole.size(); ++bit) {
        std::string bytes = whole;
        bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
        put_journal(path, bytes);
        const JournalContents contents = read_journal(path);
        EXPECT_EQ(texts(contents), (std::vector<std::string>{"first", ""})) << bit;
        EXPECT_NE(contents.damage, "") << bit;
    }
}

TEST(Journal, OutlivesDamageToOneCopyOfItsHeader)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("a.journal");
    write(path, three);
    const std::string whole = journal_content(path);
    for (std::size_t bit = 0; bit < 8 * header_bytes; ++bit) {
        std::string bytes = whole;
        const auto flip = [&bytes](std::size_t at) {
            bytes[at / 8] = static_cast<char>(bytes[at / 8] ^ (1 << (at % 8)));
        };
        flip(bit);
        put_journal(path, bytes);
        EXPECT_EQ(texts(read_journal(path)), three) << bit;
        EXPECT_EQ(read_journal(path).study, study) << bit;
        EXPECT_THAT(read_journal(path).damage, HasSubstr("of the header is damaged")) << bit;
        flip((bit + 4 * header_bytes) % (8 * header_bytes));  // the other copy's
        put_journal(path, bytes);
        const char* const why = bit % (4 * header_bytes) < 64 ? "is not a journal" : "header is damaged";
        EXPECT_THAT(message<InputError>([&] { read_journal(path); }), HasSubstr(why)) << bit;
        EXPECT_THAT(message<InputError>([&] { JournalWriter(path, study); }), HasSubstr(why)) << bit;
        EXPECT_EQ(journal_content(path), bytes) << bit;
    }
}

TEST(Journal, TakesATailOfZerosForDamage)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("a.journal");
    write(path, three);
    put_journal(path, journal_content(path) + std::string(4096, '\0'));
    const JournalContents contents = read_journal(path);
    EXPECT_EQ(texts(contents), three);
    EXPECT_THAT(contents.damage, HasSubstr("4096 of"));
}

TEST(Journal, RefusesAnotherStudy)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("a.journal");
    write(path, three);
    const std::string before = journal_content(path);
    EXPECT_THAT(message<InputError>([&] { JournalWriter(path, study + 1); }),
                AllOf(HasSubstr(path), HasSubstr("another study")));
    EXPECT_EQ(journal_content(path), before);
}

TEST(Journal, RefusesWhatIsNoJournal)
{
    const TemporaryFolder folder;
    const auto refusal = [&](const std::string& bytes) {
        put_journal(folder.file("other"), bytes);
        const std::string reading = message<InputError>([&] { read_journal(folder.file("other")); });
        EXPECT_EQ(message<InputError>([&] { JournalWriter(folder.file("other"), study); }), reading);
        EXPECT_EQ(journal_content(folder.file("other")), bytes);
        return reading;
    };
    EXPECT_THAT(refusal("name = \"a scenario, which is longer than a header\"\n"),
                HasSubstr("is not a journal"));
    EXPECT_THAT(refusal(""), HasSubstr("is not a journal"));
    EXPECT_THAT(refusal("PRISMJNL\x01"), HasSubstr("truncated in its header"));
    // Of the version before, whose checksum matches.
    EXPECT_THAT(
        refusal(std::string("PRISMJNL\x02\0\0\0\xB5\x15\xE1\x41\xEF\xCD\xAB\x89\x67\x45\x23\x01", 24)),
        HasSubstr("version 2"));
    // The first version left the checksum zero.
    EXPECT_THAT(refusal(std::string("PRISMJNL\x01\0\0\0\0\0\0\0\xEF\xCD\xAB\x89\x67\x45\x23\x01", 24)),
                AllOf(HasSubstr("version 1"), HasSubstr("--force")));
    EXPECT_THAT(message<InputError>([&] { read_journal(folder.file("none")); }), HasSubstr("No such file"));
    EXPECT_THAT(message<InputError>([] { read_journal("/dev/full"); }), HasSubstr("not a regular file"));
}

/// What a kill at the start of a search leaves may be begun again; what has a record may not.
TEST(Journal, WithoutARecordIsBlank)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("a.journal");
    JournalWriter(path, study).append(payload("first"));
    const std::string whole = journal_content(path);
    EXPECT_FALSE(journal_is_blank(path));
    for (const std::size_t bytes :
         {std::size_t{0}, std::size_t{5}, std::size_t{24}, header_bytes, header_bytes + 14}) {
        put_journal(path, whole.substr(0, bytes));
        EXPECT_TRUE(journal_is_blank(path)) << bytes;
        JournalWriter(path, study + 1, Blank::begun_again).append(payload("other"));
        EXPECT_EQ(texts(read_journal(path)), std::vector<std::string>{"other"}) << bytes;
        EXPECT_EQ(read_journal(path).study, study + 1);
    }
    put_journal(path, whole);
    EXPECT_THROW(JournalWriter(path, study + 1, Blank::begun_again), InputError);
    EXPECT_EQ(journal_content(path), whole);
    put_journal(path, "short text");
    EXPECT_THROW(journal_is_blank(path), InputError);
}

TEST(Journal, IsAsBeforeWhenTheDiskIsFull)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("a.journal");
    JournalWriter writer(path, study);
    writer.append(payload("first"));
    {
        const FullDisk full(header_bytes + record_head_bytes + 5 + 20);  // the second record fits in part
        EXPECT_THAT(message<std::runtime_error>([&] { writer.append(payload(std::string(100, 'x'))); }),
                    AllOf(HasSubstr(path), HasSubstr("File too large")));
    }
    writer.append(payload("second"));
    EXPECT_EQ(texts(read_journal(path)), (std::vector<std::string>{"first", "second"}));
    EXPECT_EQ(read_journal(path).damage, "");
}

TEST(Journal, HashesEveryInputOfAStudy)
{
    EXPECT_EQ(study_hash("text", 1, "0.1"), study_hash("text", 1, "0.1"));
    EXPECT_NE(study_hash("text", 1, "0.1"), study_hash("Text", 1, "0.1"));
    EXPECT_NE(study_hash("text", 1, "0.1"), study_hash("text", 2, "0.1"));
    EXPECT_NE(study_hash("text", 1, "0.1"), study_hash("text", 1, "0.2"));
}

}  // namespace

}  // namespace prismopt
