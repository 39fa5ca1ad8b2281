#include "cli/state_file.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <ostream>

#include "cli/checksum.h"
#include "gguf/fault.h"
#include "gguf/reader.h"

namespace tandem::cli {

namespace {

constexpr std::string_view magic = "tandem state\r\n\x1a\n";
constexpr uint64_t version = 1;
constexpr size_t longest_name = 256;  // bytes
constexpr const char* damage =
    "the file is damaged: its checksum is another; remove it to have a new one";

class Bytes {
  public:
    void add(uint64_t number) { add(std::as_bytes(std::span(&number, 1))); }
    void add(std::string_view text) {
        add(text.size());
        bytes_ += text;
    }
    void add(std::span<const std::byte> bytes) {
        bytes_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    std::span<const std::byte> all() const { return std::as_bytes(std::span(bytes_)); }

  private:
    std::string bytes_;
};

// All up to the first checksum.
Bytes bytes_of(const StateHead& head, uint64_t size) {
    Bytes bytes;
    bytes.add(std::as_bytes(std::span(magic)));
    for (uint64_t number : {version, size, head.model, head.weights}) bytes.add(number);
    bytes.add(std::string_view(head.name).substr(0, longest_name));
    bytes.add(head.tokens.size());
    bytes.add(std::as_bytes(std::span(head.tokens)));
    bytes.add(head.states.size());
    for (const StateHead::State& state : head.states) {
        bytes.add(state.name);
        bytes.add(uint64_t(state.dtype));
        bytes.add(state.bytes);
    }
    return bytes;
}

uint64_t bytes_of_states(const StateHead& head) {
    return std::accumulate(
        head.states.begin(), head.states.end(), uint64_t(0),
        [](uint64_t sum, const StateHead::State& state) { return sum + state.bytes; });
}

void write(std::ostream& out, std::span<const std::byte> bytes, Checksum& checksum) {
    out.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
    checksum.add(bytes);
}

void write_checksum(std::ostream& out, Checksum& checksum) {
    const uint64_t value = checksum.value();
    write(out, std::as_bytes(std::span(&value, 1)), checksum);
}

void add_value(Checksum& checksum, const gguf::MetadataValue& value) {
    checksum.add_number(uint32_t(value.type));
    checksum.add_number(uint64_t(value.size()));
    std::visit(
        [&](const auto& elements) {
            for (const auto& element : elements)
                if constexpr (std::is_same_v<std::decay_t<decltype(element)>, std::string>) {
                    checksum.add_number(uint64_t(element.size()));
                    checksum.add(element);
                } else {
                    checksum.add_number(element);
                }
        },
        value.elements);
}

// Of titles, licences and templates no number depends.
bool tells_models_apart(std::string_view key) {
    return key == "general.architecture" ||
           !(key.starts_with("general.") || key.starts_with("split.") ||
             key.starts_with("tokenizer.chat_template"));
}

// Reads what bytes_of() makes.
class HeadReader {
  public:
    HeadReader(std::span<const std::byte> bytes, const std::string& path)
        : bytes_(bytes), reader_(bytes, path) {}

    StateHead read() {
        read_beginning();
        StateHead head{.model = number("model's number"), .weights = number("weights' number")};
        head.name = reader_.text("name of the model");
        const auto tokens =
            reader_.bytes(count("tokens", sizeof(int32_t)) * sizeof(int32_t), "list of tokens");
        head.tokens.resize(tokens.size() / sizeof(int32_t));
        std::memcpy(head.tokens.data(), tokens.data(), tokens.size());
        constexpr uint64_t least = 3 * sizeof(uint64_t);
        for (uint64_t left = count("states", least); left > 0; --left) {
            StateHead::State state{.name = std::string(reader_.text("name of a state"))};
            const uint64_t type = number("type of a state");
            const auto dtype =
                type > UINT32_MAX ? std::nullopt : gguf::dtype_from_id(uint32_t(type));
            if (!dtype) reader_.fail("E_TYPE", "no type has number " + std::to_string(type));
            state.dtype = *dtype;
            state.bytes = number("size of a state");
            head.states.push_back(std::move(state));
        }
        Checksum checksum;
        checksum.add(bytes_.first(reader_.offset()));
        if (number("checksum of the head") != checksum.value()) damaged();
        return head;
    }
    uint64_t offset() const { return reader_.offset(); }
    [[noreturn]] void damaged() const { reader_.fail("E_VALUE", damage); }

  private:
    uint64_t number(std::string_view name) { return reader_.number<uint64_t>(name); }
    // Of things that take so many bytes each, at least.
    uint64_t count(const std::string& of, uint64_t bytes) {
        const uint64_t count = number("number of " + of);
        if (count > reader_.left() / bytes)
            reader_.fail("E_COUNT", "there are " + std::to_string(count) + " " + of +
                                        ", more than the file has room for");
        return count;
    }

    void read_beginning() {
        const auto size = std::min(magic.size(), size_t(reader_.left()));
        const auto begins = reader_.bytes(size, "beginning");
        if (!std::ranges::equal(begins, std::as_bytes(std::span(magic))))
            reader_.fail("E_MAGIC", "the file is none of --prompt-cache; name another one");
        const uint64_t found = number("version");
        if (found != version)
            reader_.fail("E_VERSION", "the version of the file is " + std::to_string(found) +
                                          ", expected " + std::to_string(version) +
                                          "; remove it to have a new one");
        const uint64_t size_then = number("size of the file");
        if (size_then != bytes_.size())
            reader_.fail("E_TRUNCATED", "the file has " + std::to_string(bytes_.size()) +
                                            " bytes, and had " + std::to_string(size_then) +
                                            "; remove it to have a new one");
    }

    std::span<const std::byte> bytes_;
    gguf::Reader reader_;
};

}  // namespace

uint64_t model_number(const gguf::File& file) {
    Checksum checksum;
    for (const auto& [key, value] : file.metadata().entries()) {
        if (!tells_models_apart(key)) continue;
        checksum.add(key);
        add_value(checksum, value);
    }
    for (const gguf::TensorInfo& tensor : file.tensors()) {
        constexpr size_t sample = 64;
        const auto bytes = file.data(tensor);
        checksum.add(tensor.name);
        checksum.add_number(uint32_t(tensor.dtype));
        for (int64_t extent : tensor.extents) checksum.add_number(extent);
        checksum.add(bytes.subspan(bytes.size() / 2).first(std::min(sample, bytes.size() / 2)));
    }
    return checksum.value();
}

uint64_t weights_number(const graph::Graph& graph) {
    Checksum checksum;
    for (const graph::Value& value : graph.values()) {
        if (value.kind != graph::Kind::Weight) continue;
        checksum.add(value.rows.tensor);
        checksum.add_number(value.rows.first);
    }
    return checksum.value();
}

void write_state_file(OutputFile& file, const StateHead& head,
                      const std::function<void(size_t state, std::span<std::byte> to)>& read) {
    uint64_t size = bytes_of(head, 0).all().size() + bytes_of_states(head) + 2 * sizeof(uint64_t);
    const Bytes beginning = bytes_of(head, size);
    file.replace([&](std::ostream& out) {
        Checksum checksum;
        write(out, beginning.all(), checksum);
        write_checksum(out, checksum);
        std::vector<std::byte> bytes;
        for (size_t i = 0; i < head.states.size() && out; ++i) {
            bytes.resize(head.states[i].bytes);
            read(i, bytes);
            write(out, bytes, checksum);
        }
        write_checksum(out, checksum);
    });
}

StateFile::StateFile(const std::filesystem::path& path) : path_(path.string()), mapping_(path) {
    const auto bytes = mapping_.bytes();
    HeadReader reader(bytes, path_);
    head_ = reader.read();
    begins_ = {reader.offset()};
    for (const StateHead::State& state : head_.states) {
        if (state.bytes > bytes.size() - begins_.back()) reader.damaged();
        begins_.push_back(begins_.back() + state.bytes);
    }
    if (begins_.back() + sizeof(uint64_t) != bytes.size() || head_.tokens.empty()) reader.damaged();
}

void StateFile::check_states() const {
    Checksum checksum;
    checksum.add(mapping_.bytes().first(begins_.back()));
    gguf::Reader end(mapping_.bytes().subspan(begins_.back()), path_);
    if (end.number<uint64_t>("checksum") != checksum.value())
        throw gguf::fault(path_, "E_VALUE", damage, begins_.back());
}

std::span<const std::byte> StateFile::state(size_t i) const {
    return mapping_.bytes().subspan(begins_[i], begins_[i + 1] - begins_[i]);
}

}  // namespace tandem::cli
