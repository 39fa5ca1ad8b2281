#include "cli/prompt_cache.h"

#include <algorithm>
#include <filesystem>

#include "cli/accounts.h"
#include "gguf/error.h"
#include "gguf/fault.h"
#include "model/architecture.h"
#include "parallel/saved_state.h"

namespace tandem::cli {

namespace fs = std::filesystem;

namespace {

constexpr Option list[] = {
    {"--prompt-cache", "FILE",
     "keep in FILE what the model knows of the prompt, and begin with what is there of an earlier "
     "run, under whatever split mode, devices and step size; without a prompt the text goes on "
     "behind what FILE has"},
    {"--prompt-cache-all", "", "keep what is generated, too"},
    {"--prompt-cache-ro", "", "leave FILE as it is"},
};

constexpr const char* what = "the prompt cache";  // in messages

// An empty one is of a process that ended before it had anything to write.
bool has_bytes(const std::string& path) {
    std::error_code error;
    if (!fs::exists(path, error)) return false;
    return !fs::is_regular_file(path, error) || fs::file_size(path, error) > 0;
}

std::string path_of(const Arguments& arguments) {
    for (const char* name : {"prompt-cache-all", "prompt-cache-ro"})
        if (arguments.on(name) && !arguments.has("prompt-cache"))
            throw Error("--" + std::string(name) + " is about a file: --prompt-cache names it");
    if (arguments.on("prompt-cache-all") && arguments.on("prompt-cache-ro"))
        throw Error("--prompt-cache-all writes the file that --prompt-cache-ro leaves as it is");
    std::string path = arguments.text("prompt-cache");
    if (path.empty() && arguments.has("prompt-cache"))
        throw Error("--prompt-cache takes the name of a file");
    return path;
}

std::vector<StateHead::State> listed(const graph::Graph& graph,
                                     std::span<const parallel::SavedState> states) {
    std::vector<StateHead::State> list;
    for (const parallel::SavedState& state : states) {
        const graph::Value& value = graph.value(state.value);
        list.push_back({value.name, value.dtype, uint64_t(state.bytes())});
    }
    return list;
}

// What can be said of a prompt of so many tokens, the first of which are also those of a file with
// so many, and of which `known` need not be evaluated.
std::string note(const std::string& path, int64_t prompt, int64_t common, int64_t saved,
                 int64_t known) {
    const std::string anew = ": the prompt is evaluated from its beginning";
    auto of = [](int64_t part, int64_t all) {
        return std::to_string(part) + " of " + counted_tokens(all);
    };
    if (common == 0) return path + " has another text" + anew;
    if (common == prompt && known + 1 == prompt)
        return path + " has the prompt: only its last token is evaluated";
    if (known == 0)
        return "the prompt begins with " + of(common, saved) + " of " + path +
               ", and the model cannot return to where they part" + anew;
    return path + " has the first " + of(known, prompt) + " of the prompt" +
           (2 * known < prompt ? ", so that most of it is evaluated" : "");
}

}  // namespace

const OptionGroup prompt_cache_options{"prompt cache", list};

PromptCache::PromptCache(const Arguments& arguments, const gguf::File& model,
                         const Interrupts& interrupts)
    : interrupts_(interrupts),
      path_(path_of(arguments)),
      keeps_(!path_.empty() && !arguments.on("prompt-cache-ro")),
      keeps_all_(arguments.on("prompt-cache-all")) {
    if (path_.empty()) return;
    const auto name = model.metadata().text("general.name");
    name_ = name ? *name : model.metadata().text("general.architecture").value_or("");
    model_ = model_number(model);
    if (has_bytes(path_)) {
        file_.emplace(path_);
        require_model();
        try {
            if (auto vocab = model::vocab_of(model)) graph::require_tokens(text(), *vocab);
        } catch (const Error& error) {
            throw gguf::fault(path_, "E_VALUE", error.what());
        }
    }
    if (keeps_ && OutputFile(path_, what).is_standard())  // or cannot be written
        throw Error(path_ + " is where the text goes to: name another file for the prompt cache");
}

void PromptCache::require_model() const {
    if (file_->head().model != model_)
        throw Error(path_ + " was written with another model, or with other keys of it: " +
                    gguf::in_quotes(file_->head().name) +
                    "; name another file for this one (--prompt-cache)");
}

std::span<const int32_t> PromptCache::text() const {
    if (!file_) return {};
    return file_->head().tokens;
}

void PromptCache::require_states(const graph::Graph& graph,
                                 std::span<const StateHead::State> states) const {
    const StateHead& head = file_->head();
    if (head.weights != weights_number(graph))
        throw Error(path_ +
                    " was written for a context (-c) in which the model has other weights; "
                    "choose that one, or name another file (--prompt-cache)");
    const bool same_names = std::ranges::equal(head.states, states, {}, &StateHead::State::name,
                                               &StateHead::State::name);
    if (!same_names)
        throw Error(path_ + " has other states than the model; remove it to have a new one");
    for (size_t i = 0; i < states.size(); ++i) {
        auto type = [](const StateHead::State& state) {
            return std::string(gguf::name(state.dtype));
        };
        if (head.states[i].dtype != states[i].dtype)
            throw Error(path_ + " has " + states[i].name + " as " + type(head.states[i]) +
                        ", and this run as " + type(states[i]) +
                        ": choose that type (-ctk, -ctv), or name another file (--prompt-cache)");
        if (head.states[i].bytes != states[i].bytes)
            throw gguf::fault(path_, "E_VALUE",
                              states[i].name + " has " + std::to_string(head.states[i].bytes) +
                                  " bytes, expected " + std::to_string(states[i].bytes));
    }
}

bool PromptCache::covers(std::span<const int32_t> prompt) const {
    return std::ranges::mismatch(text(), prompt).in2 == prompt.end();
}

int64_t PromptCache::restore(const Driver& driver, std::span<const int32_t> prompt,
                             std::vector<std::string>& notes) const {
    if (path_.empty()) return 0;
    if (!file_) {
        notes.push_back(path_ + " is not there" +
                        (keeps() ? " yet: it will have this prompt" : ", and nothing is read"));
        return 0;
    }
    const graph::Graph& graph = *driver.blueprint().graph;
    const auto evaluated = int64_t(text().size()) - 1;
    const std::vector<parallel::SavedState> states = parallel::saved_states(graph, evaluated);
    require_states(graph, listed(graph, states));
    const int64_t common = std::ranges::mismatch(text(), prompt).in1 - text().begin();
    int64_t known = std::min({common, evaluated, int64_t(prompt.size()) - 1});
    if (!parallel::can_return(graph, evaluated, known)) known = 0;
    notes.push_back(note(path_, int64_t(prompt.size()), common, int64_t(text().size()), known));
    if (known == 0) return 0;
    file_->check_states();
    for (size_t i = 0; i < states.size(); ++i) {
        interrupts_.check();
        parallel::Range inner = states[i].inner;
        if (states[i].by_position) inner.end = known;
        write_state(driver.holders(), states[i], inner, file_->state(i).data());
    }
    return known;
}

void PromptCache::keep(const Driver& driver, std::span<const int32_t> text) {
    const graph::Graph& graph = *driver.blueprint().graph;
    const auto states = parallel::saved_states(graph, int64_t(text.size()) - 1);
    const StateHead head{.model = model_,
                         .weights = weights_number(graph),
                         .name = name_,
                         .tokens = {text.begin(), text.end()},
                         .states = listed(graph, states)};
    OutputFile file(path_, what);
    write_state_file(file, head, [&](size_t i, std::span<std::byte> to) {
        interrupts_.check();
        read_state(driver.holders(), states[i], to.data());
    });
}

}  // namespace tandem::cli
