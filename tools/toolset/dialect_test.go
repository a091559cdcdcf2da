package toolset

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"buddy/tools"
)

const samplePatch = "*** Begin Patch\n*** Add File: b.go\n+package b\n*** End Patch\n"

// foreignCalls are calls as the models of other programs write them, with the call that they become here. An empty want
// means that the call is refused with the text in note.
var foreignCalls = []struct{ program, name, arguments, tool, want, note string }{
	// Codex CLI
	{"qwen", "run_shell", `{"command":"ls","mode":"plain"}`, "run_shell", `{"command":"ls"}`, "mode is ignored: it is one of cap, merge, captty, tty"},
	{"qwen", "run_shell", `{"command":"top","mode":"tty"}`, "run_shell", `{"command":"top","mode":"tty"}`, ""},
	{"codex", "exec_command", `{"cmd":"ls","workdir":"/w","yield_time_ms":1000,"max_output_tokens":6000}`, "run_shell", `{"command":"ls","wait":"1000ms"}`, "max_output_tokens is ignored"},
	{"codex", "exec_command", `{"cmd":"go test ./...","workdir":"/w/sub dir","login":true,"tty":false}`, "run_shell", `{"command":"(cd -- '/w/sub dir' && {\ngo test ./...\n})"}`, "login is ignored"},
	{"codex", "exec_command", `{"cmd":"top","tty":true,"shell":"bash"}`, "run_shell", `{"command":"top","mode":"tty"}`, ""},
	{"codex", "exec_command", `{"cmd":"x","shell":"fish"}`, "", "", `fish -c '…'`},
	{"codex", "exec_command", `{"cmd":"make","sandbox_permissions":"require_escalated","justification":"needs the network","prefix_rule":["make"]}`, "run_shell", `{"command":"make","why":"needs the network"}`, "the policy decide"},
	{"codex", "shell", `{"command":["bash","-lc","ls -la | head"],"workdir":"."}`, "run_shell", `{"command":"ls -la | head"}`, ""},
	{"codex", "shell", `{"command":["git","commit","-m","it's $HOME"],"timeout_ms":1000}`, "run_shell", `{"command":"git commit -m 'it'\\''s $HOME'"}`, "timeout_ms is ignored"},
	{"codex", "shell_command", `{"command":"ls","workdir":"sub"}`, "run_shell", `{"command":"(cd -- sub && {\nls\n})"}`, ""},
	{"codex", "container.exec", `{"cmd":["bash","-lc","ls"]}`, "run_shell", `{"command":"ls"}`, ""},
	{"codex", "shell", `{"command":["apply_patch","` + strings.ReplaceAll(samplePatch, "\n", `\n`) + `"]}`, "apply_patch", `{"patch":"` + strings.ReplaceAll(samplePatch, "\n", `\n`) + `"}`, ""},
	{"codex", "exec_command", `{"cmd":"apply_patch <<'EOF'\n` + strings.ReplaceAll(samplePatch, "\n", `\n`) + `EOF\n"}`, "apply_patch", `{"patch":"` + strings.ReplaceAll(samplePatch, "\n", `\n`) + `"}`, ""},
	{"codex", "exec_command", `{"cmd":"apply_patch <<'EOF'\n` + strings.ReplaceAll(samplePatch, "\n", `\n`) + `EOF\n","workdir":"/w/sub"}`, "", "", `call it with {"patch"`},
	{"codex", "apply_patch", `{"input":"` + strings.ReplaceAll(samplePatch, "\n", `\n`) + `"}`, "apply_patch", `{"patch":"` + strings.ReplaceAll(samplePatch, "\n", `\n`) + `"}`, ""},
	{"codex", "apply_patch", samplePatch, "apply_patch", `{"patch":"` + strings.ReplaceAll(samplePatch, "\n", `\n`) + `"}`, ""},
	{"codex", "update_plan", `{"explanation":"start","plan":[{"step":"read","status":"completed"},{"step":"fix","status":"in_progress"}]}`, "todo", `{"items":[{"state":"completed","text":"read"},{"state":"in_progress","text":"fix"}],"why":"start"}`, ""},
	{"codex", "view_image", `{"path":"a.png","detail":"high"}`, "read_file", `{"path":"a.png"}`, "detail is ignored"},
	{"codex", "read_file", `{"file_path":"/w/a.go","offset":1,"limit":200,"mode":"slice"}`, "read_file", `{"limit":200,"offset":1,"path":"/w/a.go"}`, "mode is ignored"},
	{"codex", "list_dir", `{"dir_path":"/w","offset":1,"limit":50,"depth":2}`, "list_dir", `{"depth":2,"path":"/w"}`, "limit is ignored"},
	{"codex", "grep_files", `{"pattern":"x","include":"*.go","path":"/w","limit":10}`, "grep", `{"glob":"*.go","path":"/w","pattern":"x"}`, "limit is ignored"},
	{"codex", "write_stdin", `{"session_id":4,"chars":"","yield_time_ms":5000}`, "task_output", `{"id":4,"wait":"5000ms"}`, ""},
	{"codex", "write_stdin", `{"session_id":4,"chars":"y\n"}`, "", "", `send-keys {"pane"`},
	{"codex", "request_user_input", `{"questions":[{"id":"db","header":"DB","question":"Which?","options":[{"label":"a","description":"x"},{"label":"b","description":"y"}]}]}`, "ask_user", `{"choices":["a","b"],"question":"Which?"}`, ""},
	{"codex", "functions.exec_command", `{"cmd":"ls"}`, "run_shell", `{"command":"ls"}`, ""},

	// Claude Code
	{"claude", "Bash", `{"command":"ls","description":"List files","timeout":120000}`, "run_shell", `{"command":"ls","why":"List files"}`, "timeout is ignored: nothing limits"},
	{"claude", "Bash", `{"command":"npm run dev","run_in_background":true}`, "run_shell", `{"command":"npm run dev","wait":false}`, ""},
	{"claude", "Bash", `{"command":"ls","run_in_background":false,"dangerouslyDisableSandbox":true}`, "run_shell", `{"command":"ls"}`, "dangerouslyDisableSandbox is ignored"},
	{"claude", "Bash", `{"command":"cat","stdin":"x"}`, "", "", `unknown argument "stdin"`},
	{"claude", "Read", `{"file_path":"/w/a.go"}`, "read_file", `{"path":"/w/a.go"}`, ""},
	{"claude", "Read", `{"file_path":"/w/a.go","offset":"10","limit":"20"}`, "read_file", `{"limit":"20","offset":"10","path":"/w/a.go"}`, ""},
	{"claude", "Write", `{"file_path":"/w/b.go","content":"package b\n"}`, "write_file", `{"content":"package b\n","path":"/w/b.go"}`, ""},
	{"claude", "Edit", `{"file_path":"/w/a.go","old_string":"a","new_string":"b","replace_all":false}`, "edit_file", `{"new_string":"b","old_string":"a","path":"/w/a.go","replace_all":false}`, ""},
	{"claude", "MultiEdit", `{"file_path":"/w/a.go","edits":[{"old_string":"a","new_string":"b"}]}`, "edit_file", `{"edits":[{"new_string":"b","old_string":"a"}],"path":"/w/a.go"}`, ""},
	{"claude", "Grep", `{"pattern":"x","path":"/w","-i":true,"-n":true,"-A":2,"-B":1,"type":"go"}`, "grep", `{"context":2,"glob":"*.go","ignore_case":true,"path":"/w","pattern":"x"}`, "-n is ignored"},
	{"claude", "Grep", `{"pattern":"x","glob":"**/*.go","output_mode":"files_with_matches","head_limit":20,"-C":9}`, "grep", `{"context":5,"glob":"**/*.go","mode":"files","pattern":"x"}`, "at most 5 lines of context"},
	{"claude", "Glob", `{"pattern":"**/*.go","path":"/w"}`, "glob", `{"path":"/w","pattern":"**/*.go"}`, ""},
	{"claude", "LS", `{"path":"/w","ignore":["x"]}`, "read_file", `{"path":"/w"}`, "ignore is ignored"},
	{"claude", "WebFetch", `{"url":"https://go.dev","prompt":"what is new"}`, "fetch_url", `{"url":"https://go.dev"}`, "prompt is ignored"},
	{"claude", "WebSearch", `{"query":"go","allowed_domains":["go.dev"]}`, "web_search", `{"query":"go"}`, "allowed_domains is ignored"},
	{"claude", "TodoWrite", `{"todos":[{"content":"read","status":"pending","activeForm":"Reading"}]}`, "todo", `{"items":[{"state":"pending","text":"read"}]}`, ""},
	{"claude", "AskUserQuestion", `{"questions":[{"question":"Which?","header":"DB","multiSelect":false,"options":[{"label":"a","description":"x"}]},{"question":"Where?","options":[{"label":"here"},{"label":"there"}]}]}`, "ask_user", `{"question":"1. Which? (a)\n2. Where? (here / there)"}`, ""},
	{"claude", "BashOutput", `{"bash_id":"4","filter":"x"}`, "task_output", `{"id":"4"}`, "filter is ignored"},
	{"claude", "TaskOutput", `{"task_id":"4","block":true,"timeout":60000}`, "task_output", `{"id":"4","wait":"60000ms"}`, ""},
	{"claude", "KillShell", `{"shell_id":"4"}`, "task_kill", `{"id":"4"}`, ""},
	{"claude", "ToolSearch", `{"query":"select:send-keys,capture-pane","max_results":5}`, "tool_search", `{"query":"send-keys capture-pane"}`, "max_results is ignored"},

	// opencode
	{"opencode", "bash", `{"command":"ls","description":"Lists files","timeout":5000,"workdir":"/w"}`, "run_shell", `{"command":"ls","why":"Lists files"}`, "timeout"},
	{"opencode", "read", `{"filePath":"/w/a.go","offset":0,"limit":2000}`, "read_file", `{"limit":2000,"offset":1,"path":"/w/a.go"}`, ""},
	{"opencode", "edit", `{"filePath":"/w/a.go","oldString":"a","newString":"b","replaceAll":true}`, "edit_file", `{"new_string":"b","old_string":"a","path":"/w/a.go","replace_all":true}`, ""},
	{"opencode", "edit", `{"filePath":"a.go","path":"b.go","oldString":"a","newString":"b"}`, "", "", "path and filePath are the same argument and differ: give path only"},
	{"opencode", "write", `{"filePath":"/w/b.go","content":"x"}`, "write_file", `{"content":"x","path":"/w/b.go"}`, ""},
	{"opencode", "patch", `{"patchText":"` + strings.ReplaceAll(samplePatch, "\n", `\n`) + `"}`, "apply_patch", `{"patch":"` + strings.ReplaceAll(samplePatch, "\n", `\n`) + `"}`, ""},
	{"opencode", "grep", `{"pattern":"x","include":"*.{ts,tsx}"}`, "grep", `{"glob":"*.{ts,tsx}","pattern":"x"}`, ""},
	{"opencode", "list", `{"path":"/w"}`, "read_file", `{"path":"/w"}`, ""},
	{"opencode", "webfetch", `{"url":"https://go.dev","format":"markdown","timeout":30}`, "fetch_url", `{"url":"https://go.dev"}`, "format is ignored"},
	{"opencode", "websearch", `{"query":"go","numResults":8}`, "web_search", `{"query":"go"}`, "numResults is ignored"},
	{"opencode", "todowrite", `{"todos":[{"id":"1","content":"read","status":"cancelled","priority":"high"},{"id":"2","content":"fix","status":"pending","priority":"low"}]}`, "todo", `{"items":[{"state":"pending","text":"fix"}]}`, "a cancelled step was left out"},
	{"opencode", "question", `{"questions":[{"question":"Which?","header":"x","options":[{"label":"a"}]}]}`, "ask_user", `{"choices":["a"],"question":"Which?"}`, ""},

	// crush
	{"crush", "bash", `{"command":"ls","description":"x","working_dir":"/w/sub","run_in_background":false}`, "run_shell", `{"command":"(cd -- /w/sub && {\nls\n})","why":"x"}`, ""},
	{"crush", "view", `{"file_path":"a.go","offset":5,"limit":10}`, "read_file", `{"limit":10,"offset":5,"path":"a.go"}`, ""},
	{"crush", "multiedit", `{"file_path":"a.go","edits":[{"old_string":"a","new_string":"b","replace_all":true}]}`, "edit_file", `{"edits":[{"new_string":"b","old_string":"a","replace_all":true}],"path":"a.go"}`, ""},
	{"crush", "ls", `{"path":".","depth":1}`, "read_file", `{"depth":1,"path":"."}`, ""},
	{"crush", "grep", `{"pattern":"a.b(","literal_text":true}`, "grep", `{"pattern":"a\\.b\\("}`, ""},
	{"crush", "fetch", `{"url":"https://go.dev","format":"text"}`, "fetch_url", `{"url":"https://go.dev"}`, "format is ignored"},
	{"crush", "fetch", `{"url":"https://go.dev","method":"POST"}`, "", "", `unknown argument "method"`},
	{"crush", "todos", `{"todos":[{"content":"read","status":"in_progress","active_form":"Reading"}]}`, "todo", `{"items":[{"state":"in_progress","text":"read"}]}`, ""},
	{"crush", "job_output", `{"shell_id":"4","wait":true}`, "task_output", `{"id":"4","wait":"30s"}`, ""},
	{"crush", "job_kill", `{"shell_id":"4"}`, "task_kill", `{"id":"4"}`, ""},

	// Gemini CLI
	{"gemini", "run_shell_command", `{"command":"ls","description":"List","dir_path":"sub","is_background":false}`, "run_shell", `{"command":"(cd -- sub && {\nls\n})","why":"List"}`, ""},
	{"gemini", "read_file", `{"absolute_path":"/w/a.go","start_line":3,"end_line":5}`, "read_file", `{"limit":3,"offset":3,"path":"/w/a.go"}`, ""},
	{"gemini", "read_many_files", `{"paths":["a.go"]}`, "read_file", `{"path":"a.go"}`, ""},
	{"gemini", "read_many_files", `{"paths":["a.go","b.go"]}`, "", "", "make a call for each"},
	{"gemini", "replace", `{"file_path":"/w/a.go","instruction":"rename","old_string":"a","new_string":"b","expected_replacements":1}`, "edit_file", `{"expected_replacements":1,"new_string":"b","old_string":"a","path":"/w/a.go","why":"rename"}`, ""},
	{"gemini", "write_file", `{"file_path":"/w/b.go","content":"x"}`, "write_file", `{"content":"x","path":"/w/b.go"}`, ""},
	{"gemini", "write_file", `{"file_path":"/w/b.go","content":"x","append":true}`, "", "", `unknown argument "append"`},
	{"gemini", "search_file_content", `{"pattern":"x","path":"/w","include":"*.go"}`, "grep", `{"glob":"*.go","path":"/w","pattern":"x"}`, ""},
	{"gemini", "grep_search", `{"pattern":"a+b","dir_path":"/w","include_pattern":"*.go","fixed_strings":true,"case_sensitive":false,"total_max_matches":10}`, "grep", `{"glob":"*.go","ignore_case":true,"path":"/w","pattern":"a\\+b"}`, "total_max_matches is ignored"},
	{"gemini", "glob", `{"pattern":"*.go","dir_path":"/w","respect_git_ignore":true}`, "glob", `{"path":"/w","pattern":"*.go"}`, "respect_git_ignore is ignored"},
	{"gemini", "list_directory", `{"dir_path":"/w"}`, "read_file", `{"path":"/w"}`, ""},
	{"gemini", "web_fetch", `{"prompt":"Summarize https://go.dev/doc."}`, "fetch_url", `{"url":"https://go.dev/doc"}`, "prompt is ignored"},
	{"gemini", "web_fetch", `{"prompt":"Compare https://a.example/x and https://b.example/y"}`, "", "", "make a call for each page"},
	{"gemini", "google_web_search", `{"query":"go"}`, "web_search", `{"query":"go"}`, ""},
	{"gemini", "write_todos", `{"todos":[{"description":"read","status":"blocked"}]}`, "todo", `{"items":[{"state":"pending","text":"read"}]}`, ""},
	{"gemini", "default_api:read_file", `{"file_path":"a.go"}`, "read_file", `{"path":"a.go"}`, ""},

	// pi
	{"pi", "bash", `{"command":"ls","timeout":10}`, "run_shell", `{"command":"ls"}`, "timeout"},
	{"pi", "read", `{"path":"a.go","offset":5,"limit":3}`, "read_file", `{"path":"a.go","offset":5,"limit":3}`, ""},
	{"pi", "edit", `{"path":"a.go","oldText":"a","newText":"b"}`, "edit_file", `{"new_string":"b","old_string":"a","path":"a.go"}`, ""},
	{"pi", "edit", `{"path":"a.go","edits":[{"oldText":"a","newText":"b"}]}`, "edit_file", `{"edits":[{"new_string":"b","old_string":"a"}],"path":"a.go"}`, ""},
	{"pi", "edit", `{"path":"a.go","edits":"[{\"oldText\":\"a\",\"newText\":\"b\"}]"}`, "edit_file", `{"edits":[{"new_string":"b","old_string":"a"}],"path":"a.go"}`, ""},
	{"pi", "write", `{"path":"b.go","content":"x"}`, "write_file", `{"path":"b.go","content":"x"}`, ""},
	{"pi", "grep", `{"pattern":"x","glob":"*.go","ignoreCase":true,"literal":false,"context":2,"limit":5}`, "grep", `{"context":2,"glob":"*.go","ignore_case":true,"pattern":"x"}`, "limit is ignored"},
	{"pi", "find", `{"pattern":"*.go","path":"/w","limit":10}`, "glob", `{"path":"/w","pattern":"*.go"}`, "limit is ignored"},
	{"pi", "ls", `{"path":"/w","limit":10}`, "read_file", `{"path":"/w","limit":10}`, ""},

	// Our own, and mixed up
	{"buddy", "run_shell", `{"command":"ls","why":"look","risk":"low","mutation":false,"privesc":false}`, "run_shell", `{"command":"ls","why":"look","risk":"low","mutation":false,"privesc":false}`, ""},
	{"buddy", "time", ``, "time", `{}`, ""},
	{"buddy", "read_file", `"{\"path\":\"a.go\"}"`, "read_file", `{"path":"a.go"}`, ""},
	{"buddy", "use_tool", `{"tool_name":"task_output","arguments":{"bash_id":4}}`, "use_tool", `{"name":"task_output","args":{"id":4}}`, ""},
	{"buddy", "use_tool", `{"name":"read","args":{"file_path":"a.go"}}`, "read_file", `{"path":"a.go"}`, ""},
	{"buddy", "send_keys", `{"pane":"%3","text":"y","enter":"true","risk":"low"}`, "send-keys", `{"enter":"true","literal_text":"y","pane":"%3","risk":"low"}`, ""},
	{"buddy", "task_kill", `{"id":4,"signal":"KILL"}`, "", "", `unknown argument "signal"`},
	{"buddy", "read_file", `{"path":"a.go","host":"web-02"}`, "", "", `unknown argument "host"`},
	{"buddy", "glob", `{"pattern":"*.go","root":"/elsewhere"}`, "", "", `unknown argument "root"`},
	{"buddy", "search", `{"query":"x"}`, "", "", "unknown tool: search"},
}

// foreignTools returns the tools of a session whose shell started in /w.
func foreignTools(t *testing.T) *tools.Registry {
	t.Helper()
	all, _ := offered(t, "/w")
	return tools.NewRegistry(all...)
}

// movedShell is a shell whose next command starts elsewhere than its first.
type movedShell struct {
	tools.Tool
	now, first string
}

func (s movedShell) ShellDirs(tools.Call) tools.ShellDirs {
	return tools.ShellDirs{Now: s.now, First: s.first}
}

func TestCallsOfOtherPrograms(t *testing.T) {
	r := foreignTools(t)
	for _, tt := range foreignCalls {
		t.Run(tt.program+" "+tt.name, func(t *testing.T) {
			tool, call, err := r.Resolve(tools.Call{Name: tt.name, Arguments: tt.arguments})
			if err == nil {
				_, err = tool.Plan(call)
			}
			if tt.want == "" {
				if err == nil || !strings.Contains(err.Error(), tt.note) {
					t.Fatalf("%s(%s) became %s(%s), %v: want an error with %q", tt.name, tt.arguments, call.Name, call.Arguments, err, tt.note)
				}
				return
			}
			if err != nil && errors.Is(err, tools.ErrArguments) {
				t.Fatal(err)
			}
			if call.Name != tt.tool || !sameJSON(t, call.Arguments, tt.want) {
				t.Errorf("%s(%s) became %s(%s)\nwant %s(%s)", tt.name, tt.arguments, call.Name, call.Arguments, tt.tool, tt.want)
			}
			notes := strings.Join(call.Notes, "; ")
			if tt.note == "" && notes != "" || !strings.Contains(notes, tt.note) {
				t.Errorf("notes are %q, want %q", notes, tt.note)
			}
		})
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(a) == "" {
		a = "{}"
	}
	return json.Unmarshal([]byte(a), &x) == nil && reflect.DeepEqual(x, y)
}

func TestFolderOfAForeignCommandIsCertainOrRefused(t *testing.T) {
	all, _ := offered(t, "/w")
	all[0] = movedShell{all[0], "/w/sub", "/w"}
	r := tools.NewRegistry(all...)
	for _, tt := range []struct{ arguments, want, refused string }{
		{`{"cmd":"ls","workdir":"/w/sub/"}`, "ls", ""},
		{`{"cmd":"ls","workdir":"/w"}`, "(cd -- /w && {\nls\n})", ""},
		{`{"cmd":"ls # here","workdir":"/w"}`, "(cd -- /w && {\nls # here\n})", ""},
		{`{"cmd":"ls","workdir":"."}`, "", "give the absolute path"},
		{`{"cmd":"ls","workdir":"x"}`, "", "give the absolute path"},
		{`{"cmd":"ls","workdir":"/a","cwd":"/b"}`, "", "differ: write cd into command"},
		{`{"cmd":"apply_patch <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF"}`, "", "paths begin at /w"},
	} {
		_, call, err := r.Resolve(tools.Call{Name: "exec_command", Arguments: tt.arguments})
		var got struct{ Command string }
		if err == nil {
			err = json.Unmarshal([]byte(call.Arguments), &got)
		}
		if tt.refused != "" {
			if err == nil || !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("%s: %q, %v, want %q", tt.arguments, got.Command, err, tt.refused)
			}
		} else if err != nil || got.Command != tt.want {
			t.Errorf("%s: %q, %v, want %q", tt.arguments, got.Command, err, tt.want)
		}
	}
}

func TestAnUnquotedHeredocStaysACommand(t *testing.T) {
	_, call, err := foreignTools(t).Resolve(tools.Call{Name: "bash", Arguments: `{"command":"apply_patch <<EOF\n*** Begin Patch\n$(id)\n*** End Patch\nEOF"}`})
	if err != nil || call.Name != "run_shell" {
		t.Errorf("became %s, %v", call.Name, err)
	}
}
