#include "cli/driver.h"

#include <filesystem>

#include "cli/notes.h"
#include "cli/progress.h"

namespace tandem::cli {

namespace {

Engine load(const gguf::File& file, EngineOptions options, const Interrupts& interrupts) {
    options.interrupts = &interrupts;
    Progress progress("loading " + std::filesystem::path(file.path()).filename().string());
    return {file, options, [&](int64_t done, int64_t total) {
                progress.show(done, total);
                return !interrupts.pending();
            }};
}

}  // namespace

Driver::Driver(const gguf::File& file, const EngineOptions& options, Interrupts& interrupts)
    : interrupts_(interrupts),
      engine_(load(file, options, interrupts)),
      executor_(&engine_.executor()),
      context_(options.model.context) {
    print_notes(engine_.blueprint().plan.idle);
    end_by_interrupts(true);
}

Driver::~Driver() { interrupts_.act({}); }

void Driver::end_by_interrupts(bool ends) {
    interrupts_.act(ends ? [this] { executor_->cancel(); } : std::function<void()>());
}

parallel::Holders Driver::holders() const {
    return {blueprint().placed, blueprint().plan, blueprint().devices};
}

model::Session Driver::session(int64_t position) {
    return model::Session(
        {.submit =
             [this](graph::StepInputs inputs) { return executor_->submit(std::move(inputs)); },
         .wait = [this](uint64_t ticket,
                        const model::Rows& rows) { executor_->wait(ticket, rows); },
         .done = [this](int64_t tokens) { evaluated_ += tokens; },
         .most_tokens = executor_->most_tokens(),
         .context = context_,
         .vocab = executor_->vocab()},
        position);
}

}  // namespace tandem::cli
