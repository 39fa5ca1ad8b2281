// A file for what long work finds out: that it can be written is known before the work begins, and
// what it held until then stays until there is something to take its place. Where standard output
// goes to the file, too, what is written follows what the stream has put there.
#pragma once

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

#include "cli/interrupts.h"

namespace tandem::cli {

// Whether a file begins as models do.
bool is_model(const std::filesystem::path& path);

class OutputFile {
  public:
    // Throws Error, which says that `what` ("the logits") cannot be written to it, and why. A model
    // is never written over: it may be the one that is read. A pipe waits for its reader: an
    // interrupt then ends the process.
    OutputFile(std::string path, std::string what, Interrupts* interrupts = nullptr);
    // While it lives, a stream that nobody reads any more fails, and does not end the process
    // before the file holds what it should.
    ~OutputFile();  // a new file that holds nothing goes again
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    bool is_standard() const { return stream_ != nullptr; }  // standard output or error goes there
    // Some of what comes; the first takes the place of what was there.
    void write(std::string_view bytes);
    void finish();  // all of it has arrived, or Error says why not
    // All at once, in place of `write` and `finish`: where it does not arrive, what was there
    // stays, if its folder has room for another file until then.
    void replace(std::string_view bytes);
    // The same of what `write` puts out; what it throws ends it, too. It may end early where the
    // stream has failed.
    void replace(const std::function<void(std::ostream& out)>& write);

  private:
    void open_file(Interrupts* interrupts);
    void begin();
    [[noreturn]] void fail(const std::string& why) const;
    void require_good() const;

    const std::string path_, what_;
    void (*earlier_)(int) = SIG_DFL;  // what SIGPIPE did
    bool is_new_ = false, written_ = false;
    std::ostream* const stream_;  // the standard one that goes there; null: none does
    std::ofstream file_;
    std::ostream& out_;  // of the two
};

}  // namespace tandem::cli
