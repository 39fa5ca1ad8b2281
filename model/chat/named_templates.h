// Chat templates of well-known families, for files that have none or a wrong one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tandem::model {

std::vector<std::string_view> template_names();

// What many models understand that have no template of their own.
inline constexpr std::string_view usual_template = "chatml";

// The source of the template with this name: Jinja. Throws Error with the names that there are.
std::string named_template(std::string_view name);

}  // namespace tandem::model
