// A chat template: Jinja as models' files have it, with the settings that Hugging Face renders it
// with (trim_blocks, lstrip_blocks, loop controls, a tojson that escapes no HTML). What Jinja has
// for web pages is left out: inheritance, includes, automatic escaping.
#pragma once

#include <ctime>
#include <memory>
#include <string_view>

#include <nlohmann/json.hpp>

#include "model/jinja/text.h"

namespace tandem::model::jinja {

struct Syntax;

class Template {
  public:
    // Throws Error for what it cannot read: "line 12: ...".
    explicit Template(std::string_view source);
    ~Template();
    Template(Template&&) noexcept;
    Template& operator=(Template&&) noexcept;

    // What the template writes for these variables, an object. Given are the strings below the
    // variable `messages`, except keys and the values of keys "role". `now` is what strftime_now
    // prints. Throws Error: "line 12: ..." for what goes wrong, the template's own words alone
    // where it raises an exception. Time and memory are bounded, whatever the template.
    Text render(const nlohmann::ordered_json& variables, const std::tm& now) const;

  private:
    std::unique_ptr<const Syntax> syntax_;
};

}  // namespace tandem::model::jinja
