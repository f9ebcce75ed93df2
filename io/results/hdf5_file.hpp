#pragma once

/// A thin layer over HDF5: identifiers, attributes, columns and dimensions, independent of studies.
///
/// Element types T are std::int8_t, std::int32_t, std::uint64_t, double and std::string (variable length, UTF-8). Failures
/// throw std::runtime_error with HDF5's reason; the caller adds the name of the file.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace prismopt {

/// An open file, group or dataset; closed with its owner.
class Hdf5Object {
public:
    explicit Hdf5Object(std::int64_t id) : id_(id) {}
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
    /// Creates a dataset with values in row-major order over `dimensions`, which are scales in the same group.
    template <class T>
    Hdf5Object create_column(const std::string& name, const std::vector<T>& values,
                             const std::vector<std::string>& dimensions) const;
    /// All values of a dataset in the group, row-major.
    template <class T>
    std::vector<T> read(const std::string& name) const;
    bool has_dataset(const std::string& name) const;  // or group

    template <class T>
    void set(const std::string& attribute, const T& value) const;
    template <class T>
    void set_list(const std::string& attribute, const std::vector<T>& values) const;
    bool has(const std::string& attribute) const;
    /// A scalar attribute.
    template <class T>
    T get(const std::string& attribute) const;
    template <class T>
    std::vector<T> get_list(const std::string& attribute) const;

private:
    std::int64_t id_;
};

/// Version of the loaded HDF5 library: "1.10.8".
std::string hdf5_version();

/// Whether the file has an HDF5 signature, at its start or after a user block.
bool is_hdf5(const std::string& path);

}  // namespace prismopt
