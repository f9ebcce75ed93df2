#pragma once

/// A thin layer over HDF5: identifiers, attributes, columns and dimensions, independent of studies.
///
/// A file that is read may be hostile: links to other files and virtual and external datasets are refused,
/// and so are more content than the file can hold (hdf5_content_limit) and global heaps that HDF5 would not
/// leave (global_heap.hpp).
///
/// Element types T are std::int8_t, std::int32_t, std::uint64_t, double and std::string
/// (variable length, UTF-8). Failures throw std::runtime_error with HDF5's reason; the
/// caller adds the name of the file.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace prismopt {

/// Bytes of values that are read of a file of this size. HDF5 stores runs of equal values in next to nothing
/// (deflate packs them 1000-fold, fill values need no space at all), so that a small file may announce any
/// amount. Columns of studies seldom shrink to less than a tenth.
constexpr std::uint64_t hdf5_content_limit(std::uint64_t file_bytes)
{
    return (std::uint64_t{256} << 20U) + 100 * file_bytes;
}

/// An open file, group or dataset; closed with its owner.
class Hdf5Object {
public:
    struct Budget {
        std::uint64_t file_bytes = 0;
        std::uint64_t left = 0;  // bytes that may still be read
    };

    /// `budget`: of the file; none: for files of this program, in memory.
    explicit Hdf5Object(std::int64_t id, std::shared_ptr<Budget> budget = nullptr)
        : id_(id), budget_(std::move(budget))
    {
    }
    Hdf5Object(Hdf5Object&& other) noexcept;
    Hdf5Object& operator=(Hdf5Object&&) = delete;
    ~Hdf5Object();

    /// Creates a file in memory, for image(). Objects carry no times, so equal contents give equal bytes.
    /// `user_block`: bytes in front of the image in the file; a power of two from 512, or 0.
    static Hdf5Object create_in_memory(std::uint64_t user_block = 0);
    /// Opens an existing file for reading.
    static Hdf5Object open_file(const std::string& path);
    /// Bytes of the file after its user block.
    std::vector<std::byte> image() const;

    Hdf5Object create_group(const std::string& name) const;
    /// Opens a group or a dataset.
    Hdf5Object open(const std::string& name) const;

    /// Creates a dimension scale: the coordinates along the dimension of the same name.
    template <class T>
    Hdf5Object create_scale(const std::string& name, const std::vector<T>& values) const;
    /// Creates a dataset with values in row-major order over `dimensions`,
    /// which are scales in the same group.
    template <class T>
    Hdf5Object create_column(const std::string& name, const std::vector<T>& values,
                             const std::vector<std::string>& dimensions) const;
    /// All values of a dataset in the group, row-major.
    template <class T>
    std::vector<T> read(const std::string& name) const;
    bool has_dataset(const std::string& name) const;  // or group
    /// Number of values of a dataset in the group, which are not read.
    std::uint64_t size(const std::string& name) const;
    /// Takes this much of what may be read of the file; throws where it exceeds the limit. For
    /// what a reader allocates itself.
    void charge(std::uint64_t count, std::uint64_t bytes_each, const std::string& what) const;

    template <class T>
    void set(const std::string& attribute, const T& value) const;
    template <class T>
    void set_list(const std::string& attribute, const std::vector<T>& values) const;
    bool has(const std::string& attribute) const;
    /// A scalar attribute. Texts have one line: control characters in them are an
    /// error, in columns and lists too.
    template <class T>
    T get(const std::string& attribute) const;
    /// A text of several lines in a scalar attribute.
    std::string get_document(const std::string& attribute) const;
    template <class T>
    std::vector<T> get_list(const std::string& attribute) const;

private:
    std::int64_t open_dataset(const std::string& name, const std::string& what) const;
    template <class T>
    void charge_attribute(std::uint64_t count, const std::string& what) const;

    std::int64_t id_;
    std::shared_ptr<Budget> budget_;
};

/// Version of the loaded HDF5 library: "1.10.8".
std::string hdf5_version();

/// Whether the file has an HDF5 signature, at its start or after a user block.
bool is_hdf5(const std::string& path);

}  // namespace prismopt
