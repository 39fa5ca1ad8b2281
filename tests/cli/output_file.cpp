// What is there where a file is written to, before and after, also when the disk is full.
#include "cli/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <iostream>

#include "cli/tiny_model.h"
#include "gguf/folder.h"
#include "gguf/vectors.h"

namespace tandem::test {

namespace fs = std::filesystem;

using cli::OutputFile;

namespace {

// No file takes a byte while it lives.
class FullDisk {
  public:
    FullDisk() {
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit none{0, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &none);
        handler_ = std::signal(SIGXFSZ, SIG_IGN);
    }
    ~FullDisk() {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }
    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;

  private:
    rlimit before_{};
    void (*handler_)(int);
};

// Standard output goes to a file, from its end on, while it lives.
class Redirection {
  public:
    Redirection(const fs::path& file, int flags) : before_(dup(STDOUT_FILENO)) {
        std::cout.flush();
        const int to = open(file.c_str(), O_WRONLY | O_CLOEXEC | flags);
        lseek(to, 0, SEEK_END);
        dup2(to, STDOUT_FILENO);
        close(to);
    }
    ~Redirection() {
        std::cout.flush();
        dup2(before_, STDOUT_FILENO);
        close(before_);
    }
    Redirection(const Redirection&) = delete;
    Redirection& operator=(const Redirection&) = delete;

  private:
    const int before_;
};

size_t files_in(const Folder& folder) {
    return size_t(std::distance(fs::directory_iterator(folder / ""), fs::directory_iterator()));
}

void write_file(const fs::path& path, const std::string& bytes) { std::ofstream(path) << bytes; }

}  // namespace

TEST(output_file, a_full_disk_takes_nothing_away) {
    const Folder folder;
    const fs::path old = folder / "old", fresh = folder / "fresh", streamed = folder / "streamed";
    write_file(old, "precious");
    {
        const FullDisk full;
        for (const fs::path& path : {old, fresh})
            EXPECT_EQ(error_of([&] { OutputFile(path, "the text").replace("new"); }),
                      "cannot write the text to " + path.string() + ": File too large");
        EXPECT_NE(error_of([&] {
                      OutputFile file(streamed, "the text");
                      file.write("new");
                      file.finish();
                  }),
                  "");
    }
    EXPECT_EQ(read_file(old), "precious");
    EXPECT_EQ(files_in(folder), 1u);
}

TEST(output_file, what_ends_early_takes_nothing_away) {
    const Folder folder;
    const fs::path old = folder / "old";
    write_file(old, "precious");
    OutputFile file(old, "the text");
    EXPECT_EQ(error_of([&] {
                  file.replace([](std::ostream& out) {
                      out << "new";
                      throw Error("interrupted");
                  });
              }),
              "interrupted");
    EXPECT_EQ(read_file(old), "precious");
    EXPECT_EQ(files_in(folder), 1u);
}

TEST(output_file, another_takes_the_place_behind_a_link) {
    const Folder folder;
    const fs::path old = folder / "old", link = folder / "link";
    write_file(old, "precious");
    fs::permissions(old, fs::perms::owner_read | fs::perms::owner_write);
    fs::create_symlink("old", link);
    OutputFile(link, "the text").replace("new");
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_EQ(read_file(old), "new");
    EXPECT_EQ(fs::status(old).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    OutputFile(folder / "fresh", "the text").replace("new");
    EXPECT_EQ(read_file(folder / "fresh"), "new");
    EXPECT_EQ(files_in(folder), 3u);
    OutputFile("/dev/null", "the text").replace("new");
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(output_file, what_standard_output_goes_to_keeps_its_order) {
    const Folder folder;
    const fs::path all = folder / "all";
    for (const int flags : {0, O_APPEND})
        for (const fs::path& path : {fs::path("/dev/stdout"), all}) {
            write_file(all, "precious\n");
            {
                const Redirection redirection(all, flags);
                std::cout << "before\n";
                OutputFile(path, "the text").replace("at once\n");
                std::cout << "between\n";
                OutputFile file(path, "the text");
                file.write("a piece\n");
                file.write("another\n");
                file.finish();
                std::cout << "after\n";
            }
            EXPECT_EQ(read_file(all),
                      "precious\nbefore\nat once\nbetween\na piece\nanother\nafter\n")
                << path << " " << flags;
        }
}

}  // namespace tandem::test
