#include "model/jinja/template.h"

#include "gguf/error.h"
#include "model/jinja/interpreter.h"
#include "model/jinja/lexer.h"
#include "model/jinja/parser.h"

namespace tandem::model::jinja {

Template::Template(std::string_view source) : syntax_(std::make_unique<Syntax>(parse(source))) {}
Template::~Template() = default;
Template::Template(Template&&) noexcept = default;
Template& Template::operator=(Template&&) noexcept = default;

Text Template::render(const nlohmann::ordered_json& variables, const std::tm& now) const {
    Interpreter interpreter(*syntax_, now);
    try {
        return interpreter.render(variables);
    } catch (const Error& error) {
        if (interpreter.line() == 0) throw;
        throw Error(at_line(interpreter.line()) + error.what());
    }
}

}  // namespace tandem::model::jinja
