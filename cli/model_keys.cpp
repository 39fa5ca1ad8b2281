#include "cli/model_keys.h"

#include <limits>
#include <optional>

#include "cli/model_options.h"
#include "cli/notes.h"
#include "gguf/error.h"
#include "gguf/fault.h"

namespace tandem::cli {

namespace {

using gguf::MetadataValue;
using gguf::ValueType;

constexpr Option list[] = {
    {"--override-kv", "LIST",
     "keys of the model file that are to have other values, KEY=TYPE:VALUE,...: TYPE is int, "
     "float, bool (true or false) or str"},
    {"--rope-scaling", "TYPE", "how positions beyond the trained ones scale: none, linear or yarn"},
    {"--rope-scale", "X", "so many times as many positions as the model was trained for"},
    {"--rope-freq-scale", "X", "the same as 1 / X"},
    {"--rope-freq-base", "X", "base of the rotations' frequencies"},
    {"--yarn-orig-ctx", "N", "of yarn: positions that the model was trained for"},
    {"--yarn-attn-factor", "X", "of yarn: what rotated queries and keys are multiplied by"},
    {"--yarn-beta-slow", "X", "of yarn: turns up to which frequencies scale wholly"},
    {"--yarn-beta-fast", "X", "of yarn: turns from which they do not scale"},
    {"--yarn-ext-factor", "X", "frequencies between the betas are mixed as yarn has them",
     Effect::Refused, "-1|1"},
};

struct Change {
    std::string option;  // as the user gave it
    std::string key;
    MetadataValue value;
};

MetadataValue whole(int64_t value) {
    return {.type = ValueType::I64, .elements = std::vector<int64_t>{value}};
}
MetadataValue real(double value) {
    return {.type = ValueType::F64, .elements = std::vector<double>{value}};
}
MetadataValue truth(bool value) {
    return {.type = ValueType::Bool, .elements = std::vector<uint64_t>{value}};
}
MetadataValue text(std::string value) {
    return {.type = ValueType::String, .elements = std::vector<std::string>{std::move(value)}};
}

MetadataValue value_of(const std::string& type, const std::string& word, const std::string& what) {
    if (type == "int")
        return whole(to_integer(word, what, std::numeric_limits<int64_t>::min(),
                                std::numeric_limits<int64_t>::max()));
    if (type == "float")
        return real(to_real(word, what, std::numeric_limits<double>::lowest(),
                            std::numeric_limits<double>::max()));
    if (type == "str") return text(word);
    if (type != "bool") throw Error(what + " has a type that is none of int, float, bool and str");
    if (word != "true" && word != "false")
        throw Error(what + " takes true or false, not " + gguf::in_quotes(word));
    return truth(word == "true");
}

// KEY=TYPE:VALUE
Change any_key(const std::string& item) {
    const size_t equals = item.find('='), colon = item.find(':', equals);
    const std::string option = "--override-kv " + item;
    if (equals == item.npos || equals == 0 || colon == item.npos)
        throw Error("option --override-kv takes KEY=TYPE:VALUE, not " + gguf::in_quotes(item));
    const std::string type = item.substr(equals + 1, colon - equals - 1);
    return {option, item.substr(0, equals), value_of(type, item.substr(colon + 1), option)};
}

// Of the options about positions, on a file of such an architecture.
class PositionKeys {
  public:
    PositionKeys(const Arguments& arguments, std::string architecture)
        : arguments_(arguments), architecture_(std::move(architecture)) {}

    std::vector<Change> read() {
        if (arguments_.has("rope-scaling")) {
            const std::string type = arguments_.text("rope-scaling");
            if (type != "none" && type != "linear" && type != "yarn")
                throw Error("option --rope-scaling takes none, linear or yarn, not " +
                            gguf::in_quotes(type));
            add("rope-scaling", "rope.scaling.type", text(type));
        }
        const std::optional<double> times = above_0("rope-scale", 0),
                                    part = above_0("rope-freq-scale", 0);
        if (times && part)
            throw Error(
                "two scales of positions given: choose one of --rope-scale and "
                "--rope-freq-scale");
        if (times) add("rope-scale", "rope.scaling.factor", real(*times));
        if (part) add("rope-freq-scale", "rope.scaling.factor", real(1 / *part));
        add_real("rope-freq-base", "rope.freq_base", 0);
        add_real("yarn-attn-factor", "rope.scaling.attn_factor", -1);
        add_real("yarn-beta-slow", "rope.scaling.yarn_beta_slow", -1);
        add_real("yarn-beta-fast", "rope.scaling.yarn_beta_fast", -1);
        if (const int64_t original = arguments_.integer("yarn-orig-ctx", 0, 0))
            add("yarn-orig-ctx", "rope.scaling.original_context_length", whole(original));
        return std::move(changes_);
    }

  private:
    void add(const std::string& option, const std::string& key, MetadataValue value) {
        changes_.push_back({"option --" + option, architecture_ + "." + key, std::move(value)});
    }
    // None for the value that stands for the file's.
    std::optional<double> above_0(const std::string& option, double files) const {
        const double value = arguments_.real(option, files);
        if (value == files) return {};
        if (!(value >= 1e-30 && value <= 1e30))
            throw Error("option --" + option + " takes a number from 1e-30 to 1e30, not " +
                        gguf::in_quotes(arguments_.text(option)));
        return value;
    }
    void add_real(const std::string& option, const std::string& key, double files) {
        if (const auto value = above_0(option, files)) add(option, key, real(*value));
    }

    const Arguments& arguments_;
    const std::string architecture_;
    std::vector<Change> changes_;
};

enum class Kind { Whole, Real, Truth, Text };
Kind kind_of(const MetadataValue& value) {
    switch (value.type) {
        case ValueType::Bool:
            return Kind::Truth;
        case ValueType::String:
            return Kind::Text;
        case ValueType::F32:
        case ValueType::F64:
            return Kind::Real;
        default:
            return Kind::Whole;
    }
}

void change(gguf::File& file, Change change) {
    const MetadataValue* before = file.metadata().find(change.key);
    const Kind kind = kind_of(change.value);
    const auto fits = [&] {
        const Kind files = kind_of(*before);
        return !before->array && (kind == files || (kind == Kind::Whole && files == Kind::Real));
    };
    if (before && !fits())
        throw Error(change.option + ": the file has " + describe(*before, 3) + " as " + change.key);
    file.override_key(std::move(change.key), std::move(change.value));
}

}  // namespace

const OptionGroup key_options{"keys of the model", list};

gguf::File open_model(const Arguments& arguments, gguf::Content content) {
    gguf::File file = gguf::File::open(model_path(arguments), content);
    for (const std::string& items : arguments.texts("override-kv"))
        for (const std::string& item : split(items)) {
            Change wanted = any_key(item);
            const std::string note = wanted.option + ": the file has no such key";
            if (!file.metadata().contains(wanted.key)) print_notes({&note, 1});
            change(file, std::move(wanted));
        }
    const std::string architecture = file.metadata().text("general.architecture").value_or("");
    for (Change& each : PositionKeys(arguments, architecture).read()) change(file, std::move(each));
    return file;
}

}  // namespace tandem::cli
