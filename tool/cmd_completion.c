/* footpath completion: scripts for shells, made from the commands themselves. */
#include "commands.h"

#include "flags/flags.h"

#include <string.h>

static const char *shell;

static void take_shell(const struct cli_command *command, char *value)
{
    (void)command;
    shell = value;
}

static const struct cli_option options[] = {{0}};

static void say_options(struct fp_writer *out, const struct cli_command *command)
{
    for (const struct cli_option *o = command->options; o->name; o++) fp_say(out, " %s", o->name);
    fp_say(out, " --help --version");
}

/* The values of options that have a list of them: what bash offers behind such an option. */
static void say_values(struct fp_writer *out)
{
    for (size_t i = 0; i < cli_ncommands; i++)
        for (const struct cli_option *o = cli_commands[i]->options; o->name; o++)
            if (o->words)
                fp_say(out, "    '%s %s') words='%s' ;;\n", cli_commands[i]->name, o->name,
                       o->words);
}

static void say_names(struct fp_writer *out)
{
    for (size_t i = 0; i < cli_ncommands; i++)
        fp_say(out, "%s%s", i ? " " : "", cli_commands[i]->name);
}

/* Each flag of footpath-cc and footpath-c++ with each of its words, between `before` and
 * `behind`. */
static void say_flags_between(struct fp_writer *out, const char *before, const char *behind)
{
    for (const struct fp_flag *flag = fp_flag_table; flag < fp_flag_table + fp_nflags; flag++) {
        size_t len;
        const char *word;
        if (flag->taker == FP_FLAG_INTERNAL) continue;
        if (flag->form != FP_FLAG_WORD)
            fp_say(out, "%s--fp-%s%s%s", before, flag->name,
                   flag->form == FP_FLAG_SWITCH ? "" : "=", behind);
        for (size_t i = 0; flag->form == FP_FLAG_WORD && (word = fp_flag_word(flag, i, &len)); i++)
            fp_say(out, "%s--fp-%s=%.*s%s", before, flag->name, (int)len, word, behind);
    }
}

static void say_compiler_flags(struct fp_writer *out)
{
    say_flags_between(out, " ", "");
}

static void bash(struct fp_writer *out)
{
    fp_say(
        out,
        "# bash completion for footpath: source this, or put it into\n"
        "# ~/.local/share/bash-completion/completions/footpath\n"
        "_footpath()\n{\n    local word=${COMP_WORDS[COMP_CWORD]} words= at=$((COMP_CWORD - 1))\n"
        "    [ \"$word\" != = ] || word=\n" /* --format= is two words */
        "    [ \"${COMP_WORDS[at]}\" != = ] || at=$((at - 1))\n"
        "    case \"${COMP_WORDS[1]} ${COMP_WORDS[at]}\" in\n");
    say_values(out);
    fp_say(out, "    esac\n"
                "    if [ -n \"$words\" ]; then :\n"
                "    elif [ \"$COMP_CWORD\" = 1 ]; then\n        words='");
    say_names(out);
    fp_say(out, " help'\n    elif [ \"${COMP_WORDS[1]}\" = help ]; then\n        words='");
    say_names(out);
    fp_say(out, "'\n    else\n        case $word in -*) ;; *) COMPREPLY=($(compgen -f -- "
                "\"$word\")); return ;; esac\n"
                "        case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; i < cli_ncommands; i++) {
        fp_say(out, "        %s) words='", cli_commands[i]->name);
        say_options(out, cli_commands[i]);
        fp_say(out, "' ;;\n");
    }
    fp_say(out, "        esac\n    fi\n    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\n"
                "complete -o filenames -F _footpath footpath\n"
                "_footpath_cc()\n{\n    local word=${COMP_WORDS[COMP_CWORD]}\n    case $word in\n"
                "    --fp*) COMPREPLY=($(compgen -W '");
    say_compiler_flags(out);
    fp_say(out,
           "' -- \"$word\")) ;;\n    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n    esac\n}\n"
           "complete -o filenames -F _footpath_cc footpath-cc footpath-c++\n");
}

/* In single quotes of a shell. */
static void say_quoted(struct fp_writer *out, const char *text, const char *escaped)
{
    for (; *text; text++) {
        if (*text == '\'')
            fp_say(out, "'\\''");
        else if (strchr(escaped, *text))
            fp_say(out, "\\%c", *text);
        else
            fp_write_u8(out, (uint8_t)*text);
    }
}

static void zsh(struct fp_writer *out)
{
    fp_say(out, "#compdef footpath footpath-cc footpath-c++\n"
                "# zsh completion for footpath: put it as _footpath into a folder of $fpath\n"
                "_footpath() {\n  if [[ $service != footpath ]]; then\n    compadd -- ");
    say_compiler_flags(out);
    fp_say(
        out,
        "\n    _files\n    return\n  fi\n  if (( CURRENT == 2 )); then\n    local -a commands=(\n");
    for (size_t i = 0; i < cli_ncommands; i++) {
        fp_say(out, "      '%s:", cli_commands[i]->name);
        say_quoted(out, cli_commands[i]->summary, ":");
        fp_say(out, "'\n");
    }
    fp_say(out, "    )\n    _describe command commands\n    return\n  fi\n  case $words[2] in\n");
    for (size_t i = 0; i < cli_ncommands; i++) {
        fp_say(out, "  %s) _arguments ", cli_commands[i]->name);
        for (const struct cli_option *o = cli_commands[i]->options; o->name; o++) {
            fp_say(out, "'%s%s[", o->name, o->value && o->name[1] == '-' ? "=" : "");
            say_quoted(out, o->help, "[]:");
            if (o->words)
                fp_say(out, "]:%s:(%s)' ", o->value, o->words);
            else if (o->value)
                fp_say(out, "]:%s:_files' ", o->value);
            else
                fp_say(out, "]' ");
        }
        fp_say(out,
               "'--help[this text]' '--version[the version of footpath]' '*:file:_files' ;;\n");
    }
    fp_say(out, "  esac\n}\n_footpath \"$@\"\n");
}

static void fish(struct fp_writer *out)
{
    fp_say(
        out,
        "# fish completion for footpath: put it into ~/.config/fish/completions/footpath.fish\n");
    for (size_t i = 0; i < cli_ncommands; i++) {
        const struct cli_command *command = cli_commands[i];
        fp_say(out, "complete -c footpath -n __fish_use_subcommand -f -a %s -d '", command->name);
        say_quoted(out, command->summary, "");
        fp_say(out, "'\n");
        for (const struct cli_option *o = command->options; o->name; o++) {
            bool is_long = o->name[1] == '-';
            fp_say(out, "complete -c footpath -n '__fish_seen_subcommand_from %s' -%c %s %s",
                   command->name, is_long ? 'l' : 's', o->name + (is_long ? 2 : 1),
                   o->words   ? "-x "
                   : o->value ? "-r "
                              : "");
            if (o->words) fp_say(out, "-a '%s' ", o->words);
            fp_say(out, "-d '");
            say_quoted(out, o->help, "");
            fp_say(out, "'\n");
        }
    }
    say_flags_between(out, "complete -c footpath-cc -a '", "'\n");
    say_flags_between(out, "complete -c footpath-c++ -a '", "'\n");
}

static int run(struct cli_command *command, int argc, char **argv)
{
    cli_parse(command, argc, argv);
    struct fp_writer out = {0};
    if (!shell) cli_usage(command, "name a shell: bash, zsh or fish");
    if (!strcmp(shell, "bash"))
        bash(&out);
    else if (!strcmp(shell, "zsh"))
        zsh(&out);
    else if (!strcmp(shell, "fish"))
        fish(&out);
    else
        cli_usage(command, "no completion for %s; there is bash, zsh and fish", shell);
    return cli_output(NULL, &out);
}

struct cli_command command_completion = {
    .name = "completion",
    .arguments = "bash|zsh|fish",
    .summary = "Print a completion script for a shell",
    .options = options,
    .take_word = take_shell,
    .run = run,
};
