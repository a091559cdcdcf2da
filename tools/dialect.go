package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"buddy/agent/model"
	"buddy/texts"
)

// dialect translates calls of other programs' tools to calls of one of our tools. Models are trained on those programs
// and send such calls whatever our schema says, and refusing a call costs a turn.
//
// The forms are those of Codex CLI, Claude Code, opencode, crush, Gemini CLI and pi.
type dialect struct {
	tool  string            // our name
	names []string          // foreign names, as [plainName] normalizes them
	args  map[string]string // foreign names of its arguments
	// ignored lists arguments that make no difference to the call's effect, each with a note for the model.
	ignored map[string]string
	// reads marks a tool without side effects: unknown arguments are ignored, unless they may
	// name a location.
	reads bool
	// convert makes the changes that renaming can't make; nil for most tools.
	convert func(*foreign) error
}

// Foreign names of arguments that several tools share.
var (
	whyNames  = []string{"description", "justification", "explanation", "reason", "instruction", "rationale"}
	pathNames = map[string]string{
		"file_path": "path", "filePath": "path", "filepath": "path", "absolute_path": "path", "file": "path", "filename": "path",
		"target_file": "path", "dir_path": "path", "directory": "path", "dir": "path", "folder": "path",
	}
	editNames = map[string]string{
		"oldString": "old_string", "oldText": "old_string", "old_text": "old_string", "old_str": "old_string",
		"newString": "new_string", "newText": "new_string", "new_text": "new_string", "new_str": "new_string",
		"replaceAll": "replace_all", "allow_multiple": "replace_all",
	}
	taskNames = map[string]string{
		"bash_id": "id", "shell_id": "id", "task_id": "id", "job_id": "id", "session_id": "id",
	}
)

const (
	notLimited = "nothing limits the time of a command; wait makes a call return earlier"
	notHere    = "the person and the policy decide that here"
	noLimit    = "the result says when it was cut"
)

// dialects lists our tools that other programs have under other names.
var dialects = []dialect{
	{
		tool: "run_shell",
		names: []string{
			"bash", "shell", "exec_command", "shell_command", "local_shell", "container.exec", "run_shell_command", "run_command",
			"execute_command", "run_terminal_cmd",
		},
		args: map[string]string{"cmd": "command"},
		ignored: map[string]string{
			"timeout": notLimited, "timeout_ms": notLimited, "auto_background_after": notLimited,
			"max_output_tokens": noLimit, "login": "the shell is the one of the pane",
			"sandbox_permissions": notHere, "with_escalated_permissions": notHere, "additional_permissions": notHere,
			"prefix_rule": notHere, "dangerouslyDisableSandbox": notHere,
		},
		convert: convertShell,
	},
	{
		tool: "read_file", names: []string{"read", "view", "view_file", "view_image", "read_many_files", "ls", "list", "list_directory", "list_files"},
		args: joined(pathNames, map[string]string{"start_line": "offset", "line_start": "offset"}), reads: true, convert: convertRead,
	},
	{tool: "list_dir", args: pathNames, reads: true},
	{
		tool: "write_file", names: []string{"write", "create_file", "write_to_file"},
		args:    joined(pathNames, map[string]string{"contents": "content", "text": "content", "file_text": "content"}),
		convert: convertWrite,
	},
	{
		tool: "edit_file", names: []string{"edit", "replace", "str_replace", "multiedit", "multi_edit", "search_replace"},
		args: joined(pathNames, editNames), convert: convertEdit,
	},
	{
		tool: "apply_patch", names: []string{"patch", "applypatch"},
		args: map[string]string{"input": "patch", "patchText": "patch", "patch_text": "patch", "diff": "patch"},
	},
	{
		tool: "glob", names: []string{"find", "find_files", "file_search"},
		args: joined(pathNames, map[string]string{"glob_pattern": "pattern"}), reads: true,
	},
	{
		tool: "grep", names: []string{"search_file_content", "grep_search", "grep_files", "ripgrep"},
		args:  joined(pathNames, map[string]string{"include": "glob", "include_pattern": "glob", "-i": "ignore_case", "ignoreCase": "ignore_case", "-C": "context"}),
		reads: true, convert: convertGrep,
	},
	{
		tool: "fetch_url", names: []string{"webfetch", "web_fetch", "fetch"},
		args: map[string]string{"uri": "url", "link": "url"}, convert: convertFetch,
		ignored: map[string]string{"format": "pages come as Markdown", "prompt": "the page comes as it is", "timeout": "it has a limit of its own"},
	},
	{
		tool: "web_search", names: []string{"websearch", "google_web_search"},
		args: map[string]string{"q": "query", "search_query": "query", "search_term": "query"}, reads: true,
	},
	{tool: "time", names: []string{"get_time", "current_time"}, reads: true},
	{
		tool: "todo", names: []string{"todowrite", "todo_write", "update_plan", "write_todos", "todos"},
		args: map[string]string{"todos": "items", "plan": "items"}, reads: true, convert: convertTodo,
	},
	{
		tool: "ask_user", names: []string{"askuserquestion", "question", "request_user_input", "ask_user_question"},
		args: map[string]string{"options": "choices", "prompt": "question"}, reads: true, convert: convertQuestion,
	},
	{
		tool: "task_output", names: []string{"bashoutput", "taskoutput", "job_output", "bash_output", "write_stdin"},
		args: taskNames, reads: true, convert: convertTaskOutput,
	},
	{
		tool: "code", names: []string{"lsp"}, args: joined(pathNames, map[string]string{"operation": "action", "query": "symbol", "newName": "new_name"}),
		ignored: map[string]string{"character": "symbol is the position in the line"},
	},
	{tool: "task_kill", names: []string{"killshell", "killbash", "taskstop", "job_kill", "kill_shell", "task_stop"}, args: taskNames},
	{tool: "capture-pane", names: []string{"tmux_capture_pane", "capture_pane"}, reads: true},
	{tool: "send-keys", names: []string{"tmux_send_keys", "send_keys"}, args: map[string]string{"text": "literal_text"}},
	{tool: "tool_search", names: []string{"toolsearch"}, reads: true, convert: convertToolSearch},
	{tool: "tmux_create_pane"},
	{tool: "tmux_kill_pane"},
	{tool: "tmux_create_session"},
	{tool: "tmux_kill_session"},
	{tool: "use_tool", args: map[string]string{"arguments": "args", "tool_name": "name", "tool": "name", "input": "args"}},
}

// plainName normalizes the name of a tool for the tables: lower case, without the prefixes and suffixes that some
// models add.
func plainName(name string) string { return model.CallName(strings.ToLower(name)) }

// nativeName returns our name of the tool that a foreign name means; an unknown name is
// returned unchanged.
func nativeName(name string) string {
	plain := plainName(name)
	for _, d := range dialects {
		if plain == d.tool || slices.Contains(d.names, plain) {
			return d.tool
		}
	}
	return name
}

// foreign holds the arguments of a call while they are translated.
type foreign struct {
	values map[string]json.RawMessage
	known  map[string]json.RawMessage // the properties of the tool's schema
	named  string                     // the tool's name as the model wrote it, normalized by plainName
	at     ShellDirs                  // where a command would start
	notes  []string
}

// ShellDirs holds the folders of a shell: Now, where the next command starts, and First, where the first command
// started; "" is unknown.
type ShellDirs struct{ Now, First string }

// ShellTool is a Tool that runs commands in a shell, which keeps its folder between calls.
type ShellTool interface {
	// ShellDirs returns the folders of the shell in which the call would run.
	ShellDirs(call Call) ShellDirs
}

// translate rewrites the arguments of a call of the tool def to our names, and notes the ignored ones. Arguments with
// our names stay byte for byte the same. Arguments that translate does not know remain, for the tool to refuse. It
// returns an ErrArguments when the arguments are ambiguous.
func translate(def model.ToolDef, call Call, at ShellDirs) (Call, error) {
	schema := argumentsOf(def)
	if schema.Properties == nil {
		return call, nil
	}
	d := dialect{tool: def.Name}
	i := slices.IndexFunc(dialects, func(d dialect) bool { return d.tool == def.Name })
	if i >= 0 {
		d = dialects[i]
	}
	if d.tool == "apply_patch" && strings.HasPrefix(strings.TrimSpace(call.Arguments), "*** Begin Patch") {
		call.Arguments = string(JSON(map[string]string{"patch": call.Arguments})) // the patch came as free text
		return call, nil
	}
	values, ok := objectIn(call.Arguments)
	if !ok {
		return call, nil
	}
	f := &foreign{values: values, known: schema.Properties, named: plainName(call.Name), at: at}
	before := maps.Clone(values)
	if i >= 0 {
		wholeNumbers(values)
	}
	if d.convert != nil {
		if err := d.convert(f); err != nil {
			return call, err
		}
	}
	if i >= 0 {
		if err := f.rename(d); err != nil {
			return call, err
		}
	}
	call.Renamed = joined(call.Renamed, f.correct(d, schema.Required))
	if i >= 0 {
		f.ignore(d)
	}
	call.Notes = append(slices.Clip(call.Notes), f.notes...)
	same := maps.EqualFunc(before, f.values, func(a, b json.RawMessage) bool { return string(a) == string(b) })
	if !same || i >= 0 && isString(call.Arguments) {
		call.Arguments = string(JSON(f.values))
	}
	return call, nil
}

// whole matches a whole number with a fraction of zeros.
var whole = regexp.MustCompile(`^-?\d+\.0+$`)

// wholeNumbers rewrites numbers such as 1.0 as integers.
func wholeNumbers(values map[string]json.RawMessage) {
	for name, raw := range values {
		if whole.Match(raw) {
			values[name] = raw[:bytes.IndexByte(raw, '.')]
		}
	}
}

// objectIn decodes arguments, which some models encode twice.
func objectIn(arguments string) (map[string]json.RawMessage, bool) {
	var inner string
	if json.Unmarshal([]byte(arguments), &inner) == nil {
		arguments = inner
	}
	var values map[string]json.RawMessage
	if strings.TrimSpace(arguments) == "" {
		return make(map[string]json.RawMessage), true
	}
	return values, json.Unmarshal([]byte(arguments), &values) == nil && values != nil
}

func isString(arguments string) bool { return strings.HasPrefix(strings.TrimSpace(arguments), `"`) }

// rename gives arguments our names. An argument that occurs under two names with different values is an error.
func (f *foreign) rename(d dialect) error {
	names := d.args
	if _, has := f.values["why"]; !has {
		for _, n := range whyNames { // only displayed, so the first name wins
			if text, ok := f.text(n); ok && f.known[n] == nil && strings.TrimSpace(text) != "" {
				f.values["why"] = f.values[n]
				break
			}
		}
	}
	for _, n := range whyNames {
		if names[n] == "" && f.known[n] == nil {
			delete(f.values, n)
		}
	}
	for _, from := range slices.Sorted(maps.Keys(f.values)) {
		to := names[from]
		if to == "" || f.known[from] != nil {
			continue
		}
		if has, ok := f.values[to]; ok && string(has) != string(f.values[from]) {
			return Invalid("%s and %s are the same argument and differ: give %s only", to, from, to)
		}
		f.values[to] = f.values[from]
		delete(f.values, from)
	}
	return nil
}

// undocumented are arguments that tools accept although no schema lists them.
var undocumented = []string{"why", "risk", "mutation", "privesc", "expected_replacements"}

// locationWords are parts of argument names that may name a location.
var locationWords = []string{"path", "file", "dir", "folder", "cwd", "root", "host", "target", "url", "branch", "commit", "repo"}

// namesPlace reports whether the name of an argument may mean a location.
func namesPlace(argument string) bool {
	lower := strings.ToLower(argument)
	return slices.ContainsFunc(locationWords, func(p string) bool { return strings.Contains(lower, p) })
}

// ignore removes arguments that can't change the effect. The tool refuses other unknown arguments.
func (f *foreign) ignore(d dialect) {
	for _, name := range slices.Sorted(maps.Keys(f.values)) {
		if f.known[name] != nil || slices.Contains(undocumented, name) {
			continue
		}
		why, ok := d.ignored[name]
		switch {
		case string(f.values[name]) == "null":
		case ok:
			f.notes = append(f.notes, name+" is ignored: "+why)
		case d.reads && !namesPlace(name):
			f.notes = append(f.notes, texts.ClipBytes(name, 60)+" is ignored")
		default:
			continue
		}
		delete(f.values, name)
	}
}

// remove deletes an argument and returns it; nil if it is missing or null.
func (f *foreign) remove(name string) json.RawMessage {
	raw := f.values[name]
	delete(f.values, name)
	if string(raw) == "null" {
		return nil
	}
	return raw
}

func (f *foreign) set(name string, v any) { f.values[name] = JSON(v) }

// text returns a string argument without removing it.
func (f *foreign) text(name string) (string, bool) {
	var s string
	raw, ok := f.values[name]
	return s, ok && json.Unmarshal(raw, &s) == nil
}

// number returns an integer argument, which may be encoded in a string, without removing it.
func (f *foreign) number(name string) (int, bool) {
	var n int
	raw, ok := f.values[name]
	return n, ok && json.Unmarshal(unquoted(raw), &n) == nil
}

// removeBool removes a boolean argument, which may be encoded in a string, and returns it.
func (f *foreign) removeBool(name string) (value, ok bool) {
	raw := f.remove(name)
	return value, raw != nil && json.Unmarshal(unquoted(raw), &value) == nil
}

// unquoted returns the content of a JSON string, which may encode a number, boolean or list.
func unquoted(raw json.RawMessage) json.RawMessage {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return json.RawMessage(strings.TrimSpace(s))
	}
	return raw
}

// list returns an argument that is a list of objects, which may be encoded in a string, without removing it.
func (f *foreign) list(name string) ([]map[string]json.RawMessage, bool) {
	var all []map[string]json.RawMessage
	raw, ok := f.values[name]
	return all, ok && json.Unmarshal(unquoted(raw), &all) == nil
}

// addNote adds a note for the model about the arguments that it sent.
func (f *foreign) addNote(format string, args ...any) {
	f.notes = append(f.notes, fmt.Sprintf(format, args...))
}

// HasArgument reports whether the schema of a tool has the argument.
func HasArgument(def model.ToolDef, name string) bool { return propertiesOf(def)[name] != nil }

// propertiesOf returns the schemas of a tool's arguments; nil if the tool's schema declares no arguments.
func propertiesOf(def model.ToolDef) map[string]json.RawMessage { return argumentsOf(def).Properties }

// arguments holds the parts of a tool's schema that describe its arguments.
type arguments struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
}

func argumentsOf(def model.ToolDef) (a arguments) {
	_ = json.Unmarshal(def.Parameters, &a)
	return a
}
