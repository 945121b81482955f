// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/Options.h"

#include "driver/Pipeline.h"
#include "spec/DidYouMean.h"
#include "spec/FieldReader.h"
#include "targets/Target.h"

#include "llvm/ADT/STLExtras.h"

using llvm::StringRef;

namespace mhac {

namespace {

struct OptionRow {
  StringRef flag;
  StringRef value; // placeholder; empty: the option takes no value
  bool shown;      // in --help
  StringRef doc;
  void (*set)(Options &, StringRef);
};

} // namespace

static void setTargets(Options &options, StringRef value) {
  llvm::SmallVector<StringRef> parts;
  value.split(parts, ',');
  for (StringRef part : parts)
    if (!llvm::is_contained(options.targets, part.str()))
      options.targets.push_back(part.str());
}

static const OptionRow table[] = {
    {"-o", "file", true, "output; its suffix .o .a .so chooses the kind (default: <name>.o; text goes to standard output)",
     [](Options &o, StringRef v) { o.output = v.str(); }},
    {"--header", "file", true, "C header (default: beside the object)", [](Options &o, StringRef v) { o.header = v.str(); }},
    {"--manifest", "file", true, "JSON manifest (default: beside the object)", [](Options &o, StringRef v) { o.manifest = v.str(); }},
    {"--emit", "stage", true, "stop after a stage and write its result, see below", [](Options &o, StringRef v) { o.emit = v.str(); }},
    {"--target", "t[,t...]", true, "what to compile for (default: host); of several, also given one by one, the best is chosen at run time", setTargets},
    {"--list-targets", "", true, "the names that --target knows", [](Options &o, StringRef) { o.listTargets = true; }},
    {"--name", "f", true, "name of the entry instead of the spec's", [](Options &o, StringRef v) { o.name = v.str(); }},
    {"--schedule", "attr|@file", true, "replace chosen schedules: [<op>=]#attn.schedule<...>, one a line in a file",
     [](Options &o, StringRef v) { o.schedule = v.str(); }},
    {"--explain-schedule", "", true, "print the schedule of every op and why it was chosen; write files only with -o",
     [](Options &o, StringRef) { o.explainSchedule = true; }},
    {"--explain", "", true, "print what is compiled: parameters, FLOPs, bytes, workspace, block structure, kernels; write files only with -o",
     [](Options &o, StringRef) { o.explain = true; }},
    {"--draw", "name=n[,...]", true, "sizes and inputs for --emit=mask-svg: query=64,key_lengths=50,h=1 (sizes are 256 otherwise)",
     [](Options &o, StringRef v) { o.draw = v.str(); }},
    {"--dump-stages", "dir", true, "write the result of every stage into a directory",
     [](Options &o, StringRef v) { o.dumpDirectory = v.str(); }},
    {"-MD", "", true, "write a depfile beside the output", [](Options &o, StringRef) { o.writeDepfile = true; }},
    {"-MF", "file", true, "where to write the depfile",
     [](Options &o, StringRef v) {
       o.depfile = v.str();
       o.writeDepfile = true;
     }},
    {"-MT", "target", true, "the target that the depfile names (default: the output)", [](Options &o, StringRef v) { o.depTarget = v.str(); }},
    {"--check", "", true, "check the spec and choose schedules; write nothing", [](Options &o, StringRef) { o.check = true; }},
    {"--print-schema", "", true, "print the JSON schema of specs, for editors", [](Options &o, StringRef) { o.printSchema = true; }},
    {"--print-fields", "", false, "print the table of spec fields as Markdown", [](Options &o, StringRef) { o.printFields = true; }},
    {"--werror", "", true, "treat warnings as errors", [](Options &o, StringRef) { o.werror = true; }},
    {"--no-perf-warnings", "", true, "no performance warnings", [](Options &o, StringRef) { o.noPerformanceWarnings = true; }},
    {"--verify-diagnostics", "", false, "compare diagnostics with the comments `expected-error@+1 {{text}}` of the input",
     [](Options &o, StringRef) { o.verifyDiagnostics = true; }},
    {"--completion", "shell", true, "print a completion script; the shell is bash", [](Options &o, StringRef v) { o.completion = v.str(); }},
    {"--version", "", true, "print the version", [](Options &o, StringRef) { o.version = true; }},
    {"--help", "", true, "print this text", [](Options &o, StringRef) { o.help = true; }},
    {"-h", "", false, "print this text", [](Options &o, StringRef) { o.help = true; }},
};

static bool asksForInformation(const Options &o) {
  return o.help || o.version || o.printSchema || o.printFields || o.listTargets || !o.completion.empty();
}

static std::optional<Target> checkTarget(StringRef target, std::vector<std::string> &errors) {
  std::string reason;
  if (std::optional<Target> found = findTarget(target, reason))
    return found;
  llvm::SmallVector<StringRef> known{"host"};
  for (const Target &named : namedTargets())
    known.push_back(named.name);
  errors.push_back("--target must be " + listWords(known) + " or a string of Halide's (" + reason + "), found '" + target.str() + "'" +
                   didYouMean(target, known));
  return std::nullopt;
}

/// The targets of one object: one architecture, and for a shared library that of the linker at hand.
static void checkTargets(const Options &options, bool isShared, std::vector<std::string> &errors) {
  std::optional<Target> first;
  for (const std::string &word : options.targets) {
    std::optional<Target> target = checkTarget(word, errors);
    if (!target)
      continue;
    if (!first)
      first = target;
    else if (target->architecture != first->architecture)
      errors.push_back("--target: one object is for one architecture, found '" + target->name + "' (" + target->architecture->name.str() + ") beside '" +
                       first->name + "' (" + first->architecture->name.str() + ")");
  }
  if (first && isShared && first->architecture != hostArchitecture())
    errors.push_back("a shared library for " + first->architecture->name.str() + " needs a linker of that architecture; write a .o or .a and link it there");
}

/// What options mean to each other.
static void checkOptions(const Options &options, std::vector<std::string> &errors) {
  if (!options.completion.empty() && options.completion != "bash")
    errors.push_back("--completion knows 'bash', found '" + options.completion + "'");
  if (asksForInformation(options))
    return;
  if (options.input.empty())
    errors.push_back("no input; usage: mhac [options] <spec.yaml | stage.mlir>, see --help");
  llvm::SmallVector<StringRef> words;
  for (const EmitWord &row : emitWords())
    words.push_back(row.word);
  bool knownEmit = options.emit.empty() || llvm::is_contained(words, StringRef(options.emit));
  if (!knownEmit)
    errors.push_back("--emit must be " + listWords(words) + ", found '" + options.emit + "'" + didYouMean(options.emit, words));
  if (std::string reason = options.name.empty() ? "" : whyNotName(options.name); !reason.empty())
    errors.push_back("--name " + reason + ", found '" + options.name + "'");
  if (options.emit.empty() && !options.output.empty() && !emitWordFor("", options.output))
    errors.push_back("the suffix of '" + options.output + "' does not say what to write; use .o, .a or .so, or --emit");
  const EmitWord *bySuffix = options.output.empty() ? nullptr : emitWordFor("", options.output);
  if (knownEmit && !options.emit.empty() && bySuffix && bySuffix->word != options.emit)
    errors.push_back("--emit=" + options.emit + " contradicts the suffix of '" + options.output + "', which stands for " + bySuffix->word.str());
  const EmitWord *emit = knownEmit ? emitWordFor(options.emit, options.output) : nullptr;
  checkTargets(options, emit && emit->word == "shared", errors);
  if (emit && !emit->isText && options.output == "-")
    errors.push_back("--emit=" + emit->word.str() + " does not write to standard output");
  if (emit && emit->stage != Stage::Emit && (options.writeDepfile || !options.header.empty() || !options.manifest.empty()))
    errors.push_back("--header, --manifest and -MD need an output of the last stage, found --emit=" + emit->word.str());
  if (!options.draw.empty() && options.emit != "mask-svg")
    errors.push_back("--draw needs --emit=mask-svg");
  if (!options.depTarget.empty() && !options.writeDepfile)
    errors.push_back("-MT needs -MD or -MF");
  if (options.writeDepfile && options.depfile.empty() && options.output == "-")
    errors.push_back("-MD needs -MF when the output is standard output");
}

bool parseOptions(llvm::ArrayRef<StringRef> arguments, Options &options, std::vector<std::string> &errors) {
  llvm::SmallVector<StringRef> known;
  for (const OptionRow &row : table)
    known.push_back(row.flag);
  bool onlyInputs = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    StringRef argument = arguments[i];
    if (argument == "--" && !onlyInputs) {
      onlyInputs = true;
      continue;
    }
    if (onlyInputs || argument == "-" || !argument.starts_with("-")) {
      if (!options.input.empty())
        errors.push_back("one input at a time, found '" + options.input + "' and '" + argument.str() + "'");
      else if (argument.empty())
        errors.push_back("the name of the input is empty");
      options.input = argument.str();
      continue;
    }
    bool hasValue = argument.starts_with("--") && argument.contains('=');
    auto [flag, value] = argument.split('=');
    if (!hasValue)
      flag = argument;
    const OptionRow *row = llvm::find_if(table, [&, flag = flag](const OptionRow &each) { return each.flag == flag; });
    if (row == std::end(table)) {
      errors.push_back("unknown option '" + flag.str() + "'" + didYouMean(flag, known));
      continue;
    }
    if (row->value.empty()) {
      if (hasValue)
        errors.push_back(row->flag.str() + " takes no value, found '" + value.str() + "'");
      row->set(options, "");
      continue;
    }
    if (!hasValue && i + 1 < arguments.size())
      value = arguments[++i];
    if (value.empty())
      errors.push_back(row->flag.str() + " needs a value: <" + row->value.str() + ">");
    else
      row->set(options, value);
  }
  if (errors.empty())
    checkOptions(options, errors);
  return errors.empty();
}

static std::string usageOf(const OptionRow &row) {
  if (row.value.empty())
    return row.flag.str();
  return row.flag.str() + (row.flag.starts_with("--") ? "=<" : " <") + row.value.str() + ">";
}

static std::string tableLine(std::string left, StringRef right) {
  left.resize(std::max<size_t>(left.size() + 1, 24), ' ');
  return "  " + left + right.str() + "\n";
}

std::string helpText() {
  std::string text = "mhac compiles attention layers: a YAML spec becomes an object file, a C header and a JSON manifest.\n"
                     "usage: mhac [options] <spec.yaml | stage.mlir | ->\n\noptions:\n";
  for (const OptionRow &row : table)
    if (row.shown)
      text += tableLine(usageOf(row), row.doc);
  text += "\nstages of --emit:\n";
  for (const EmitWord &row : emitWords())
    text += tableLine(row.word.str(), row.sentence);
  return text + "\nexit codes: 0 ok, 1 the spec is wrong, 2 wrong usage, or a file that cannot be read or written, 3 valid but not supported,\n"
                "            70 internal error\n";
}

std::string targetList() {
  std::string text = tableLine("host", "the best of the following that this machine runs");
  for (const Target &target : namedTargets())
    text += tableLine(target.name, target.sentence);
  return text + tableLine("<Halide's string>", "any other target with features, for example x86-64-linux-sse41-avx");
}

std::string bashCompletion() {
  std::string flags, words;
  for (const OptionRow &row : table)
    if (row.shown)
      flags += row.flag.str() + (row.value.empty() || !row.flag.starts_with("--") ? " " : "= ");
  for (const EmitWord &row : emitWords())
    words += row.word.str() + " ";
  return "# bash completion of mhac; load it with: source <(mhac --completion=bash)\n"
         "_mhac() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  [[ $word == = ]] && word= || [[ $before != = ]] || before=${COMP_WORDS[COMP_CWORD-2]}\n"
         "  compopt +o nospace\n"
         "  case $before in\n"
         "    --emit) COMPREPLY=($(compgen -W '" +
         words +
         "' -- \"$word\")) ;;\n"
         "    *) if [[ $word == -* ]]; then COMPREPLY=($(compgen -W '" +
         flags +
         "' -- \"$word\")); [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
         "       else COMPREPLY=($(compgen -f -X '!*.@(yaml|yml|mlir)' -- \"$word\") $(compgen -d -- \"$word\")); fi ;;\n"
         "  esac\n"
         "}\n"
         "complete -F _mhac mhac\n";
}

} // namespace mhac
