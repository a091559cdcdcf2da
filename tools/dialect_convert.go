package tools

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"buddy/texts"
	"buddy/tmux/host"
)

// shells are programs whose script may follow -c or -lc.
var shells = []string{"bash", "sh", "/bin/bash", "/bin/sh", "/usr/bin/bash"}

// convertShell joins a command given as a list of words and translates its folder and its
// timeout.
func convertShell(f *foreign) error {
	if shell, ok := f.text("shell"); ok {
		if !slices.Contains(shells, shell) {
			return Invalid("shell: commands run in the shell of the pane; for another one write it into command: %s -c '…'", texts.ClipBytes(shell, 60))
		}
		delete(f.values, "shell")
	}
	for _, name := range []string{"command", "cmd"} {
		var words []string
		if json.Unmarshal(f.values[name], &words) == nil && len(words) > 0 {
			f.set(name, commandOf(words))
		}
	}
	if err := convertWait(f); err != nil {
		return err
	}
	if tty, ok := f.removeBool("tty"); ok && tty {
		f.set("mode", "tty")
	}
	f.knownMode()
	return convertFolder(f)
}

// knownMode removes a mode that run_shell doesn't have, such as "plain": most models mean captured output by it, which
// is the default.
func (f *foreign) knownMode() {
	var schema struct{ Enum []string }
	mode, ok := f.text("mode")
	if ok && json.Unmarshal(f.known["mode"], &schema) == nil && len(schema.Enum) > 0 && !slices.Contains(schema.Enum, mode) {
		delete(f.values, "mode")
		f.addNote("mode is ignored: it is one of %s", strings.Join(schema.Enum, ", "))
	}
}

// commandOf returns a command line that runs the program words[0] with the other words as arguments. If that program is
// a shell with a script, it returns the script.
func commandOf(words []string) string {
	if len(words) == 3 && slices.Contains(shells, words[0]) && (words[1] == "-c" || words[1] == "-lc") {
		return words[2]
	}
	return host.Line(words...)
}

// convertWait translates a request to run in the background, or a timeout of the call, to the argument wait.
func convertWait(f *foreign) error {
	for _, name := range []string{"run_in_background", "is_background", "background"} {
		if yes, ok := f.removeBool(name); ok && yes {
			if has, ok := f.values["wait"]; ok && string(has) != "false" {
				return Invalid("%s and wait: give wait only, false for the background", name)
			}
			f.set("wait", false)
		}
	}
	if ms, ok := f.number("yield_time_ms"); ok && ms >= 0 {
		if _, waits := f.values["wait"]; !waits {
			f.set("wait", fmt.Sprintf("%dms", max(ms, 1)))
		}
		delete(f.values, "yield_time_ms")
	}
	return nil
}

// folderNames are foreign names of a command's folder. Our tool has no such argument, because the shell keeps its
// folder between commands.
var folderNames = []string{"workdir", "cwd", "working_dir", "working_directory", "directory", "dir_path", "dir"}

// convertFolder rewrites a command that should run in another folder than the shell's.
func convertFolder(f *foreign) error {
	folder, named := "", ""
	for _, name := range folderNames {
		if text, ok := f.text(name); ok {
			if folder != "" && text != folder {
				return Invalid("%s and %s differ: write cd into command", named, name)
			}
			folder, named = text, name
			delete(f.values, name)
		}
	}
	switch {
	case folder == "":
		return nil
	case path.IsAbs(folder) && path.Clean(folder) == f.at.Now:
		return nil
	case !path.IsAbs(folder) && f.at.Now != f.at.First:
		return Invalid("%s: %q may be relative to %s or to %s: give the absolute path", named, texts.ClipBytes(folder, 200), f.at.First, f.at.Now)
	case path.Clean(folder) == ".":
		return nil
	}
	for _, name := range []string{"command", "cmd"} {
		if command, ok := f.text(name); ok {
			f.set(name, fmt.Sprintf("(cd -- %s && {\n%s\n})", host.Quote(folder), strings.TrimSpace(command)))
		}
	}
	return nil
}

// heredoc matches a command that pipes a patch to apply_patch, a program that some models expect to exist.
var heredoc = regexp.MustCompile(`^(?:apply_patch|applypatch)\s+<<\s*(?:'(\w+)'|"(\w+)")\n((?s:.*)\n)(\w+)\s*$`)

// patchIn returns the patch of a command that only calls apply_patch, and the folder of the call, "" for none.
func patchIn(arguments string) (patch, folder string, ok bool) {
	values, ok := objectIn(arguments)
	if !ok {
		return "", "", false
	}
	for _, name := range folderNames {
		_ = json.Unmarshal(values[name], &folder) // values of other types are refused later
	}
	for _, name := range []string{"command", "cmd"} {
		var words []string
		if json.Unmarshal(values[name], &words) == nil && len(words) == 2 && plainName(words[0]) == "apply_patch" {
			return words[1], folder, true
		}
		var text string
		if len(words) > 0 {
			text = commandOf(words)
		} else if json.Unmarshal(values[name], &text) != nil {
			continue
		}
		m := heredoc.FindStringSubmatch(strings.TrimSpace(text))
		if m != nil && m[1]+m[2] == m[4] && strings.HasPrefix(m[3], "*** Begin Patch") {
			return m[3], folder, true
		}
	}
	return "", "", false
}

// convertRead translates line numbers that start at 0 to numbers that start at 1, and a list of one path to a path.
func convertRead(f *foreign) error {
	for _, name := range []string{"offset", "start_line", "line_start"} {
		if n, ok := f.number(name); ok && n == 0 {
			f.set(name, 1)
		}
	}
	first := 1
	for _, name := range []string{"start_line", "line_start", "offset"} {
		if n, ok := f.number(name); ok {
			first = n
		}
	}
	for _, name := range []string{"end_line", "line_end"} {
		if last, ok := f.number(name); ok && last >= first && f.values["limit"] == nil {
			f.set("limit", last-first+1)
			delete(f.values, name)
		}
	}
	for _, name := range []string{"paths", "include", "files"} {
		var paths []string
		if raw, ok := f.values[name]; ok && json.Unmarshal(unquoted(raw), &paths) == nil {
			if len(paths) != 1 || strings.ContainsAny(paths[0], "*?[{") {
				return Invalid("%s: read_file reads one file: make a call for each in the same answer, %s", name, `{"path":"…"}`)
			}
			f.set("path", paths[0])
			delete(f.values, name)
		}
	}
	return nil
}

// convertWrite removes arguments that ask for the default behaviour of write_file.
func convertWrite(f *foreign) error {
	for _, name := range []string{"create_dirs", "create_directories", "overwrite"} {
		if yes, ok := f.text(name); ok && yes == "true" || string(f.values[name]) == "true" {
			delete(f.values, name)
		}
	}
	if e, ok := f.text("encoding"); ok && strings.EqualFold(strings.ReplaceAll(e, "-", ""), "utf8") {
		delete(f.values, "encoding")
	}
	if raw := f.values["append"]; string(raw) == "false" {
		delete(f.values, "append")
	}
	return nil
}

// convertEdit renames the members of edits. With expected_replacements it drops replace_all and its other names: the
// edit must then match exactly that many times.
func convertEdit(f *foreign) error {
	if _, ok := f.number("expected_replacements"); ok {
		for _, name := range []string{"replace_all", "allow_multiple", "replaceAll"} {
			delete(f.values, name)
		}
	}
	edits, ok := f.list("edits")
	if !ok {
		return nil
	}
	for i, e := range edits {
		for _, from := range []string{"oldString", "oldText", "old_text", "old_str", "newString", "newText", "new_text", "new_str", "replaceAll"} {
			raw, ok := e[from]
			if !ok {
				continue
			}
			to := editNames[from]
			if has, twice := e[to]; twice && string(has) != string(raw) {
				return Invalid("edits[%d]: %s and %s are the same argument and differ: give %s only", i, to, from, to)
			}
			e[to] = raw
			delete(e, from)
		}
	}
	f.set("edits", edits)
	return nil
}

// fileTypes are the glob patterns of ripgrep's file types.
var fileTypes = map[string]string{
	"go": "*.go", "py": "*.py", "python": "*.py", "js": "*.{js,jsx,mjs,cjs}", "ts": "*.{ts,tsx,mts,cts}", "rust": "*.rs", "java": "*.java",
	"c": "*.{c,h}", "cpp": "*.{cpp,cc,cxx,hpp,hh,hxx,h}", "md": "*.{md,markdown}", "markdown": "*.{md,markdown}", "json": "*.json",
	"yaml": "*.{yaml,yml}", "html": "*.{html,htm}", "css": "*.css", "ruby": "*.rb", "php": "*.php", "sh": "*.{sh,bash,zsh}",
}

// contextMax is the largest number of context lines that grep accepts.
const contextMax = 5

// convertContext translates separate numbers of lines before and after a match to one number of context lines.
func convertContext(f *foreign) {
	lines := 0
	for _, name := range []string{"-A", "-B", "-C", "context", "after", "before"} {
		if n, ok := f.number(name); ok {
			lines = max(lines, n)
			delete(f.values, name)
		}
	}
	if lines > contextMax {
		f.addNote("at most %d lines of context are shown", contextMax)
	}
	if lines > 0 {
		f.set("context", min(lines, contextMax))
	}
}

// convertGrep translates the options of ripgrep and similar searches.
func convertGrep(f *foreign) error {
	convertContext(f)
	for name, mode := range map[string]string{"files_with_matches": "files", "content": "lines", "count": "count"} {
		if has, ok := f.text("output_mode"); ok && has == name {
			f.set("mode", mode)
			delete(f.values, "output_mode")
		}
	}
	if only, ok := f.removeBool("names_only"); ok && only {
		f.set("mode", "files")
	}
	if kind, ok := f.text("type"); ok && f.values["glob"] == nil && fileTypes[kind] != "" {
		f.set("glob", fileTypes[kind])
		delete(f.values, "type")
	}
	return convertPattern(f)
}

// convertPattern quotes a pattern flagged as fixed text, and translates flags about case to ignore_case.
func convertPattern(f *foreign) error {
	if sensitive, ok := f.removeBool("case_sensitive"); ok && !sensitive {
		f.set("ignore_case", true)
	}
	for _, name := range []string{"literal", "literal_text", "fixed_strings"} {
		if literal, ok := f.removeBool(name); ok && literal {
			if pattern, ok := f.text("pattern"); ok {
				f.set("pattern", regexp.QuoteMeta(pattern))
			}
		}
	}
	return nil
}

var addresses = regexp.MustCompile("https?://[^\\s\"'<>`)\\]]+")

// convertFetch moves an address in the prompt to the argument url.
func convertFetch(f *foreign) error {
	prompt, ok := f.text("prompt")
	if !ok || f.values["url"] != nil {
		return nil
	}
	found := addresses.FindAllString(prompt, 2)
	if len(found) != 1 {
		return Invalid("url: missing; make a call for each page: %s", `{"url":"https://…"}`)
	}
	f.set("url", strings.TrimRight(found[0], ".,;:!?"))
	return nil
}

// todoStates are foreign names of the states of a step.
var todoStates = map[string]string{
	"todo": "pending", "open": "pending", "blocked": "pending", "in-progress": "in_progress", "doing": "in_progress", "active": "in_progress",
	"done": "completed", "complete": "completed",
}

// todoNames are foreign names of a step's members, in order of preference.
var todoNames = []struct{ theirs, ours string }{
	{"text", "text"}, {"content", "text"}, {"step", "text"}, {"title", "text"}, {"description", "text"}, {"state", "state"}, {"status", "state"},
}

// convertTodo translates todos or a plan to steps. It drops cancelled steps.
func convertTodo(f *foreign) error {
	for _, name := range []string{"items", "todos", "plan"} {
		steps, ok := f.list(name)
		if !ok {
			continue
		}
		items := []map[string]json.RawMessage{}
		for _, s := range steps {
			item := make(map[string]json.RawMessage)
			for _, n := range todoNames { // the first name that is present wins
				if raw, ok := s[n.theirs]; ok && item[n.ours] == nil {
					item[n.ours] = raw
				}
			}
			var state string
			_ = json.Unmarshal(item["state"], &state) // an invalid one is refused later
			if state == "cancelled" || state == "canceled" {
				f.addNote("a cancelled step was left out")
				continue
			}
			if ours := todoStates[state]; ours != "" {
				item["state"] = JSON(ours)
			}
			items = append(items, item)
		}
		f.set(name, items)
	}
	return nil
}

// convertQuestion turns a list of questions into one, and labelled options into choices.
func convertQuestion(f *foreign) error {
	if all, ok := f.list("questions"); ok && len(all) > 0 {
		delete(f.values, "questions")
		if len(all) == 1 {
			for _, name := range []string{"question", "options", "choices"} {
				if raw, ok := all[0][name]; ok {
					f.values[name] = raw
				}
			}
		} else {
			f.set("question", questionsIn(all))
		}
	}
	for _, name := range []string{"options", "choices"} {
		if labels := labelsIn(f.values[name]); labels != nil {
			f.set(name, labels)
		}
	}
	return nil
}

// questionsIn joins several questions into one text.
func questionsIn(all []map[string]json.RawMessage) string {
	var b strings.Builder
	for i, q := range all {
		var text string
		_ = json.Unmarshal(q["question"], &text) // an empty question stays visible
		fmt.Fprintf(&b, "%d. %s", i+1, text)
		if labels := labelsIn(q["options"]); labels != nil {
			fmt.Fprintf(&b, " (%s)", strings.Join(labels, " / "))
		}
		b.WriteByte('\n')
	}
	return strings.TrimSpace(b.String())
}

// labelsIn returns the labels of options; nil when raw is not a list of options.
func labelsIn(raw json.RawMessage) []string {
	var options []struct{ Label string }
	if json.Unmarshal(raw, &options) != nil {
		return nil
	}
	var labels []string
	for _, o := range options {
		labels = append(labels, o.Label)
	}
	return labels
}

// blockTime is the wait of a blocking foreign call that gives no timeout.
const blockTime = "30s"

// convertTaskOutput translates foreign arguments, which say whether to wait and for how long, to the argument wait.
func convertTaskOutput(f *foreign) error {
	block, ok := f.removeBool("block")
	if wait, given := f.removeBoolWait(); given {
		block, ok = wait, true
	}
	ms, timed := f.number("timeout")
	if y, yields := f.number("yield_time_ms"); yields {
		ms, timed, block, ok = y, true, y > 0, true
		delete(f.values, "yield_time_ms")
	}
	if f.named == "write_stdin" {
		delete(f.values, "chars") // empty, else the call was rerouted to send-keys
	}
	switch {
	case !ok || !block:
	case timed:
		f.set("wait", fmt.Sprintf("%dms", ms))
	default:
		f.set("wait", blockTime)
	}
	if timed {
		delete(f.values, "timeout")
	}
	return nil
}

// removeBoolWait removes a boolean wait and returns it.
func (f *foreign) removeBoolWait() (value, ok bool) {
	if s := string(unquoted(f.values["wait"])); s != "true" && s != "false" {
		return false, false
	}
	return f.removeBool("wait")
}

// convertToolSearch translates "select:NAME,…" to words.
func convertToolSearch(f *foreign) error {
	if query, ok := f.text("query"); ok {
		if names, ok := strings.CutPrefix(query, "select:"); ok {
			f.set("query", strings.ReplaceAll(names, ",", " "))
		}
	}
	return nil
}
