#include "model/chat/named_templates.h"

#include "gguf/error.h"

namespace tandem::model {

namespace {

// What stands in front of the messages, what each becomes, and what asks for an answer. r is a
// message's role, c what it says, t that without white space around it.
struct Parts {
    std::string_view name;
    std::string_view message;
    std::string_view last = {};
    std::string_view first = {};
};

constexpr std::string_view each_message =
    "{%- for m in messages -%}{%- set r = m['role'] -%}{%- set c = m['content'] -%}"
    "{%- set t = c | trim -%}";

// Mistral's and Gemma's system message is the beginning of the user's next.
constexpr std::string_view no_system_yet = "{%- set ns = namespace(system='') -%}";

constexpr Parts templates[] = {
    {"chatml", "{{ '<|im_start|>' + r + '\\n' + c + '<|im_end|>\\n' }}",
     "{{ '<|im_start|>assistant\\n' }}"},
    {"command-r",
     "{{ '<|START_OF_TURN_TOKEN|>' + {'system': '<|SYSTEM_TOKEN|>', 'user': '<|USER_TOKEN|>'}"
     ".get(r, '<|CHATBOT_TOKEN|>') + t + '<|END_OF_TURN_TOKEN|>' }}",
     "{{ '<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>' }}"},
    {"deepseek2",
     "{{ c + '\\n\\n' if r == 'system' else 'User: ' + c + '\\n\\n' if r == 'user' "
     "else 'Assistant: ' + c + '<\uff5cend\u2581of\u2581sentence\uff5c>' }}",
     "{{ 'Assistant:' }}"},
    {"deepseek3",
     "{{ c + '\\n\\n' if r == 'system' else '<\uff5cUser\uff5c>' + c if r == 'user' "
     "else '<\uff5cAssistant\uff5c>' + c + '<\uff5cend\u2581of\u2581sentence\uff5c>' }}",
     "{{ '<\uff5cAssistant\uff5c>' }}"},
    {"falcon3", "{{ '<|' + r + '|>\\n' + c + '\\n' }}", "{{ '<|assistant|>\\n' }}"},
    {"gemma",
     "{%- if r == 'system' -%}{%- set ns.system = t + '\\n\\n' -%}{%- else -%}"
     "{{ '<start_of_turn>' + ('model' if r == 'assistant' else r) + '\\n' + ns.system + t + "
     "'<end_of_turn>\\n' }}{%- set ns.system = '' -%}{%- endif -%}",
     "{{ '<start_of_turn>model\\n' }}", no_system_yet},
    {"glm4", "{{ '<|' + r + '|>\\n' + c }}", "{{ '<|assistant|>\\n' }}", "[gMASK]<sop>"},
    {"gpt-oss",
     "{{ '<|start|>' + r + '<|message|>' + c + ('<|return|>' if r == 'assistant' else '<|end|>') "
     "}}",
     "{{ '<|start|>assistant' }}"},
    {"granite", "{{ '<|start_of_role|>' + r + '<|end_of_role|>' + c + '<|end_of_text|>\\n' }}",
     "{{ '<|start_of_role|>assistant<|end_of_role|>' }}"},
    {"kimi-k2",
     "{{ '<|im_' + ('user|>' if r == 'user' else 'assistant|>' if r == 'assistant' "
     "else 'system|>') + r + '<|im_middle|>' + c + '<|im_end|>' }}",
     "{{ '<|im_assistant|>assistant<|im_middle|>' }}"},
    {"llama2",
     "{%- if not ns.open and r != 'assistant' -%}{{ '[INST] ' }}{%- set ns.open = true -%}"
     "{%- endif -%}{%- if r == 'system' -%}{{ '<<SYS>>\\n' + c + '\\n<</SYS>>\\n\\n' }}"
     "{%- elif r == 'user' -%}{{ c + ' [/INST]' }}{%- set ns.open = false -%}"
     "{%- else -%}{{ c + '</s>' }}{%- endif -%}",
     {},
     "{%- set ns = namespace(open=false) -%}"},
    {"llama3", "{{ '<|start_header_id|>' + r + '<|end_header_id|>\\n\\n' + t + '<|eot_id|>' }}",
     "{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}"},
    {"llama4", "{{ '<|header_start|>' + r + '<|header_end|>\\n\\n' + t + '<|eot|>' }}",
     "{{ '<|header_start|>assistant<|header_end|>\\n\\n' }}"},
    {"mistral-v1",
     "{%- if r == 'system' -%}{%- set ns.system = c + '\\n\\n' -%}{%- elif r == 'user' -%}"
     "{{ ' [INST] ' + ns.system + c + ' [/INST]' }}{%- set ns.system = '' -%}"
     "{%- else -%}{{ ' ' + c + '</s>' }}{%- endif -%}",
     {},
     no_system_yet},
    {"mistral-v3",
     "{%- if r == 'system' -%}{%- set ns.system = c + '\\n\\n' -%}{%- elif r == 'user' -%}"
     "{{ '[INST] ' + ns.system + c + '[/INST]' }}{%- set ns.system = '' -%}"
     "{%- else -%}{{ ' ' + t + '</s>' }}{%- endif -%}",
     {},
     no_system_yet},
    {"mistral-v3-tekken",
     "{%- if r == 'system' -%}{%- set ns.system = c + '\\n\\n' -%}{%- elif r == 'user' -%}"
     "{{ '[INST]' + ns.system + c + '[/INST]' }}{%- set ns.system = '' -%}"
     "{%- else -%}{{ c + '</s>' }}{%- endif -%}",
     {},
     no_system_yet},
    {"mistral-v7",
     "{{ '[SYSTEM_PROMPT] ' + c + '[/SYSTEM_PROMPT]' if r == 'system' else "
     "'[INST] ' + c + '[/INST]' if r == 'user' else ' ' + c + '</s>' }}"},
    {"mistral-v7-tekken",
     "{{ '[SYSTEM_PROMPT]' + c + '[/SYSTEM_PROMPT]' if r == 'system' else "
     "'[INST]' + c + '[/INST]' if r == 'user' else c + '</s>' }}"},
    {"phi3", "{{ '<|' + r + '|>\\n' + c + '<|end|>\\n' }}", "{{ '<|assistant|>\\n' }}"},
    {"phi4", "{{ '<|im_start|>' + r + '<|im_sep|>' + c + '<|im_end|>' }}",
     "{{ '<|im_start|>assistant<|im_sep|>' }}"},
    {"seed_oss", "{{ '<seed:bos>' + r + '\\n' + (t if r == 'assistant' else c) + '<seed:eos>' }}",
     "{{ '<seed:bos>assistant\\n' }}"},
    {"vicuna",
     "{{ c + '\\n\\n' if r == 'system' else 'USER: ' + c + '\\n' if r == 'user' "
     "else 'ASSISTANT: ' + c + '</s>\\n' }}",
     "{{ 'ASSISTANT:' }}"},
    {"zephyr", "{{ '<|' + r + '|>\\n' + c + '<|endoftext|>\\n' }}", "{{ '<|assistant|>\\n' }}"},
};

}  // namespace

std::vector<std::string_view> template_names() {
    std::vector<std::string_view> names;
    for (const Parts& parts : templates) names.push_back(parts.name);
    return names;
}

std::string named_template(std::string_view name) {
    std::string names;
    for (const Parts& parts : templates) {
        if (parts.name == name)
            return std::string(parts.first) + std::string(each_message) +
                   std::string(parts.message) + "{%- endfor -%}" + std::string(parts.last);
        names += (names.empty() ? "" : ", ") + std::string(parts.name);
    }
    throw Error("no chat template is called " + std::string(name) + "; there are " + names);
}

}  // namespace tandem::model
