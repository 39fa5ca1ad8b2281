// The program: finds the command, and says in one line what went wrong.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <new>
#include <string_view>
#include <system_error>

#include "cli/nearest.h"
#include "cli/notes.h"
#include "cli/options.h"
#include "cli/subcommands.h"
#include "gguf/error.h"

namespace tandem::cli {

namespace {

constexpr const Subcommand* subcommands[] = {
    &run_command,        &logits_command, &inspect_command, &tokenize_command, &bench_command,
    &perplexity_command, &plan_command,   &devices_command, &synth_command};

std::string overview() {
    std::string text =
        "tandem runs one language model on several devices at once.\n\n"
        "usage: tandem COMMAND [options]\n\ncommands:\n";
    for (const Subcommand* command : subcommands) {
        std::string name = "  " + std::string(command->name);
        name.resize(14, ' ');
        text += name + std::string(command->sentence) + "\n";
    }
    return text +
           "\ntandem COMMAND --help lists the options of a command and the environment variables "
           "that it reads;\ntandem --version prints the version.\n";
}

const Subcommand& find(const std::string& name) {
    for (const Subcommand* command : subcommands)
        if (command->name == name) return *command;
    std::vector<std::string> known;
    for (const Subcommand* command : subcommands) known.emplace_back(command->name);
    const std::string meant = nearest(name, known);
    throw Error("unknown command " + name + "; " +
                (meant.empty() ? "" : "did you mean " + meant + "? ") + "tandem --help lists them");
}

// A file that is opened must not become a standard stream that is closed, which takes its place as
// one that fails.
void keep_standard_streams() {
    for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (fcntl(stream, F_GETFD) < 0)
            open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

// The weights of a file are read where they are mapped, and no call fails where they are gone.
// Every other such signal ends the program as it would have.
void tell_of_lost_memory(int, siginfo_t* info, void*) {
    if (info->si_code != BUS_ADRERR) {
        std::signal(SIGBUS, SIG_DFL);
        std::raise(SIGBUS);
        return;
    }
    constexpr std::string_view bar_away = "\r\033[K";
    constexpr std::string_view text =
        "error: a file was cut short, or its disk failed, while it was read\n";
    if (isatty(STDERR_FILENO)) (void)!write(STDERR_FILENO, bar_away.data(), bar_away.size());
    (void)!write(STDERR_FILENO, text.data(), text.size());
    _exit(1);
}

void watch_mapped_files() {
    struct sigaction action {};
    action.sa_sigaction = tell_of_lost_memory;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGBUS, &action, nullptr);
}

// A file that must not grow further is one that cannot be written, and no reason to be killed.
void ignore_limits_of_files() { std::signal(SIGXFSZ, SIG_IGN); }

int run(std::span<const std::string> words) {
    if (words.empty()) throw Error("no command given; tandem --help lists them");
    if (is_help(words[0]) || words[0] == "help") {
        const bool of_one = words.size() > 1 && !words[1].starts_with('-');
        std::cout << (of_one ? help(find(words[1])) : overview());
        return 0;
    }
    if (words[0] == "--version") {
        std::cout << "tandem " << TANDEM_VERSION << "\n";
        return 0;
    }
    const Subcommand& command = find(words[0]);
    words = words.subspan(1);
    if (asks_for_help(command, words)) {
        std::cout << help(command);
        return 0;
    }
    const Arguments arguments = parse(command, words);
    print_notes(arguments.notes());
    return command.run(arguments);
}

}  // namespace

}  // namespace tandem::cli

int main(int count, char** words) {
    tandem::cli::keep_standard_streams();
    tandem::cli::watch_mapped_files();
    tandem::cli::ignore_limits_of_files();
    try {
        const int code = tandem::cli::run(std::vector<std::string>(words + 1, words + count));
        if (!std::cout.flush()) throw tandem::Error("cannot write to standard output");
        return code;
    } catch (const tandem::Error& error) {
        std::cerr << "error: " << error.what() << "\n";
    } catch (const std::bad_alloc&) {
        std::cerr
            << "error: out of memory; a shorter context or fewer tokens at a time need less\n";
    } catch (const std::logic_error& error) {
        std::string_view text = error.what();
        std::cerr << (text.starts_with("internal error") ? "" : "internal error: ") << text << "\n";
    } catch (const std::system_error& error) {
        if (error.code() == std::errc::resource_unavailable_try_again)
            std::cerr << "error: a thread cannot be started; fewer of them (-t), fewer devices "
                         "(-dev) or a higher limit (ulimit -u) would help\n";
        else
            std::cerr << "error: " << error.what() << "\n";
    } catch (const std::exception& error) {
        std::cerr << "error: " << error.what() << "\n";
    }
    return 1;
}
