package project

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/hooks"
	"buddy/agent/policy"
	"buddy/extensions"
	"buddy/extensions/skill"
	"buddy/extensions/subagent"
	"buddy/tools/file"
)

// foreignLimits holds files in the published formats of six programs, each with a limit, and what is enforced. For an
// agent: the tools of limitedTools that it lacks, its loosest mode and its turns. For a skill: whether models see it,
// and what it denies. For hooks: the decisions about a command and a read. For a server: whether it starts, and its
// tools. out means that the file is not used and the user gets a notice.
var foreignLimits = []struct{ program, kind, text, enforced string }{
	{"Claude Code", "agent", "description: d\ntools: Read, Grep, Glob", "no run_shell write_file edit_file fetch_url agent mcp__db__drop"},
	{"Claude Code", "agent", "description: d\ntools:\n  - Read\n  - Bash(git log:*)", "no run_shell write_file edit_file fetch_url agent mcp__db__drop"},
	{"Claude Code", "agent", "description: d\ndisallowedTools: Write, Edit, Bash(rm:*)", "no run_shell write_file edit_file"},
	{"Claude Code", "agent", "description: d\ndisallowed_tools: [Bash, mcp__db]", "no run_shell mcp__db__drop"},
	{"Claude Code", "agent", "description: d\npermissionMode: plan", "mode plan"},
	{"Claude Code", "agent", "description: d\npermissionMode: planning", "out"},
	{"Claude Code", "agent", "description: d\nmaxTurns: 5\nmcpServers: [web]", "no mcp__db__drop turns 5"},
	{"Claude Code", "agent", "description: d\ntools: Bash\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks: [{type: command, command: ./readonly.sh}]", "out"},
	{"Claude Code", "agent", "description: d: e\n more\n\ttools: Read", "out"},
	{"Claude Code", "skill", "description: d\ndisable-model-invocation: true", "not told"},
	{"Claude Code", "skill", "description: d\ndisableModelInvocation: true", "not told"},
	{"Claude Code", "skill", "description: d\ndisable-model-invocation: always", "out"},
	{"Claude Code", "skill", "description: d\ndisallowed-tools: Bash(git push *), WebFetch", "told denies run_shell fetch_url"},
	{"Claude Code", "skill", "description: d\ndisallowed-tools: bash, write", "told denies run_shell write_file apply_patch"},
	{"Claude Code", "skill", "description: d\nhooks:\n  PreToolUse: [{hooks: [{type: command, command: ./x}]}]", "out"},
	{"Claude Code", "command", "description: d\ntools: Read", "out"},
	{"Claude Code", "hooks", `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "exit 2"}]}]}}`, "command deny"},
	{"Claude Code", "hooks", `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "if": "Bash(echo *)", "command": "exit 2"}]}]}}`, "command deny"},
	{"Claude Code", "hooks", `{"hooks": {"PreToolUse": [{"matcher": "Bash|Read", "hooks": [{"type": "prompt", "prompt": "is it safe?"}]}]}}`, "command ask, reading ask"},
	{"Claude Code", "hooks", `{"hooks": {"PreToolUse": [{"hooks": [{"type": "http", "url": "http://127.0.0.1:1"}]}]}}`, "command ask, reading ask"},
	{"Claude Code", "server", `"type": "http", "url": "https://x.example", "disabled": true`, "off"},

	{"Codex", "agent", "description: d\nsandbox_mode: read-only", "mode plan"},
	{"Codex", "agent", "description: d\nsandbox_mode: workspace-write\napproval_policy: untrusted", "mode ask"},
	{"Codex", "agent", "description: d\napproval_policy: never", "mode none"},
	{"Codex", "agent", "description: d\nsandbox_mode: locked", "out"},
	{"Codex", "skill", "description: d\nallow_implicit_invocation: false", "out"},
	{"Codex", "hooks", `{"hooks": {"PreToolUse": [{"matcher": "^(shell|apply_patch)$", "hooks": [{"type": "command", "command": "echo '{\"decision\": \"block\"}'"}]}]}}`, "command deny"},
	{"Codex", "hooks", `{"hooks": {"pre_tool_use": [{"hooks": [{"command": "echo denied"}]}]}}`, "command ask, reading ask"},
	{"Codex", "server", `"command": "x", "enabled": false`, "off"},
	{"Codex", "server", `"command": "x", "enabled_tools": ["get"], "disabled_tools": ["drop"]`, "on, tools get, not drop"},

	{"Gemini CLI", "agent", "name: a\ndescription: d\nkind: local\ntools:\n  - read_file\n  - grep_search\nmodel: gemini\nmax_turns: 10\ntimeout_mins: 5", "no run_shell write_file edit_file fetch_url agent mcp__db__drop turns 10"},
	{"Gemini CLI", "agent", "description: d\nexclude_tools: [run_shell_command, replace, web_fetch]", "no run_shell write_file edit_file fetch_url"},
	{"Gemini CLI", "agent", "description: d\napproval_mode: plan", "mode plan"},
	{"Gemini CLI", "agent", "description: d\ntools: [read_file, mcp_db_*]", "no run_shell write_file edit_file fetch_url agent"},
	{"Gemini CLI", "hooks", `{"hooks": {"BeforeTool": [{"matcher": "run_shell_command|write_file", "hooks": [{"name": "g", "type": "command", "command": "echo '{\"decision\": \"deny\", \"reason\": \"no\"}'", "timeout": 5000}]}]}}`, "command deny"},
	{"Gemini CLI", "hooks", `{"hooks": {"BeforeTool": [{"matcher": ".*", "hooks": [{"type": "command", "command": "echo ok >&2; exit 2"}]}]}}`, "command deny, reading deny"},
	{"Gemini CLI", "hooks", `{"hooks": {"BeforeToolSelection": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}}`, "command ask, reading ask"},
	{"Gemini CLI", "server", `"command": "x", "includeTools": ["get"], "trust": true`, "on, tools get"},
	{"Gemini CLI", "server", `"command": "x", "excludeTools": ["drop"]`, "on, not drop"},

	{"opencode", "agent", "description: d\nmode: subagent\ntools:\n  write: false\n  edit: false\n  bash: false", "no run_shell write_file edit_file"},
	{"opencode", "agent", "description: d\nmode: subagent\ntools:\n  \"*\": false\n  read: true", "no run_shell write_file edit_file fetch_url agent mcp__db__drop"},
	{"opencode", "agent", "description: d\ntools:\n  db_*: false\n  task: off", "no agent mcp__db__drop"},
	{"opencode", "agent", "description: d\npermission:\n  edit: deny\n  webfetch: deny\n  bash:\n    \"*\": ask\n    git status: allow", "no write_file edit_file fetch_url mode ask"},
	{"opencode", "agent", "description: d\npermission: deny", "no run_shell write_file edit_file fetch_url agent mcp__db__drop read_file"},
	{"opencode", "agent", "description: d\npermission:\n  bash: never", "out"},
	{"opencode", "agent", "description: d\npermission:\n  external_directory: deny", "out"},
	{"opencode", "agent", "description: d\npermissions:\n  - {action: edit, resource: \"*\", effect: deny}\n  - {action: shell, resource: \"*\", effect: deny}", "no run_shell write_file edit_file"},
	{"opencode", "agent", "description: d\nmode: all\nsteps: 3\ndisable: false", "turns 3"},
	{"opencode", "agent", "description: d\ndisable: true", "out"},
	{"opencode", "server", `"type": "local", "command": ["x"], "enabled": false`, "out"},
	{"opencode", "command", "description: d\nagent: plan\npermission: {bash: deny}", "out"},

	{"Copilot", "agent", "name: a\ndescription: d\ntools: [\"read\", \"search\"]\ntarget: vscode", "no run_shell write_file edit_file fetch_url agent mcp__db__drop"},
	{"Copilot", "agent", "description: d\ntools: ['edit', 'db/*']", "no run_shell fetch_url agent read_file"},
	{"Copilot", "agent", "description: d\ntools: []", "no run_shell write_file edit_file fetch_url agent mcp__db__drop read_file"},
	{"Copilot", "agent", "description: d\ndisable-model-invocation: true", "out"},
	{"Copilot", "agent", "description: d\nexcluded-tools: execute", "no run_shell"},
	{"Copilot", "hooks", `{"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "./guard.sh", "powershell": "./guard.ps1", "cwd": ".", "timeoutSec": 30}]}}`, "command ask, reading ask"},
	{"Copilot", "hooks", `{"version": 1, "hooks": {"preToolUse": [{"type": "command", "command": "echo '{\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"no\"}'"}]}}`, "command deny, reading deny"},
	{"Copilot", "server", `"type": "local", "command": "x", "args": [], "tools": ["get"]`, "out"},
	{"Copilot", "server", `"command": "x", "args": [], "tools": []`, "on, not *"},

	{"Cursor", "agent", "name: a\ndescription: d\nmodel: fast\nreadonly: true\nis_background: false", "mode plan"},
	{"Cursor", "agent", "description: d\nread_only: Yes", "mode plan"},
	{"Cursor", "agent", "description: d\nreadonly: mostly", "out"},
	{"Cursor", "hooks", `{"version": 1, "hooks": {"preToolUse": [{"command": "echo '{\"permission\":\"deny\"}'", "matcher": "Shell"}]}}`, "command deny"},
	{"Cursor", "hooks", `{"version": 1, "hooks": {"beforeShellExecution": [{"command": "./guard.sh"}], "beforeReadFile": [{"command": "./guard.sh"}]}}`, "command ask, reading ask"},
	{"Cursor", "hooks", `{"version": 1, "hooks": {"preToolUse": [{"type": "prompt", "prompt": "is it safe?", "matcher": "Shell"}]}}`, "command ask"},
	{"Cursor", "server", `"command": "x", "disabled": "true"`, "off"},
	{"Cursor", "server", `"url": "https://x.example", "permissions": {"drop": "deny"}`, "out"},
}

// limitedTools lists the tools to check.
var limitedTools = []string{"run_shell", "write_file", "edit_file", "fetch_url", "agent", "mcp__db__drop", "read_file"}

// A limit in a file of any program is enforced, or the file is not used and reported.
func TestForeignLimitsHold(t *testing.T) {
	programs := map[string]int{}
	for i, tt := range foreignLimits {
		programs[tt.program]++
		got := ""
		switch tt.kind {
		case "hooks":
			got = hooksEnforce(t, tt.text)
		case "server":
			got = serverEnforces(t, tt.text)
		default:
			got = textEnforces(t, map[string]extensions.Kind{"agent": extensions.Agent, "skill": extensions.Skill, "command": extensions.Command}[tt.kind], tt.text)
		}
		if got != tt.enforced {
			t.Errorf("%d, %s of %s: %s\nenforced: %s\nwant:     %s", i, tt.kind, tt.program, tt.text, got, tt.enforced)
		}
	}
	if len(foreignLimits) < 60 || len(programs) != 6 {
		t.Errorf("%d files of %v", len(foreignLimits), programs)
	}
}

// textEnforces writes a file with settings to its place, reads it as a session does, and returns what is enforced.
func textEnforces(t *testing.T, kind extensions.Kind, settings string) string {
	t.Helper()
	dir := t.TempDir()
	name := filepath.Join(dir, ".claude", string(kind), "x.md")
	if kind == extensions.Skill {
		name = filepath.Join(dir, ".claude/skills/x/SKILL.md")
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("---\n"+settings+"\n---\nDo it.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := file.NewWorkspace(dir, policy.Secret)
	if err != nil {
		t.Fatal(err)
	}
	found, err := extensions.Read(t.Context(), kind, extensions.Source{Origin: extensions.Project, Files: files, Dirs: []string{filepath.Join(dir, ".claude")}, Inside: dir})
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	if kind == extensions.Agent {
		defs, problems := subagent.All(found.Items)
		found.Problems = append(found.Problems, problems...)
		found.Items = found.Items[:len(defs)]
		if len(defs) == 1 {
			parts = agentLimits(defs[0])
		}
	} else if len(found.Items) == 1 {
		s := skill.New(found.Items[0])
		parts = append(parts, map[bool]string{true: "told", false: "not told"}[s.Listed])
		for i, text := range s.Denied {
			if i == 0 {
				parts = append(parts, "denies")
			}
			rules, err := action.FieldDenials(text, action.FromSession)
			if err != nil {
				t.Error(err)
			}
			for _, r := range rules {
				parts = append(parts, r.Tool)
			}
		}
	}
	if len(found.Items) == 0 {
		if len(found.Problems) == 0 || !found.Problems[0].Limits {
			t.Errorf("%s: nobody is told: %v", settings, found.Problems)
		}
		return "out"
	}
	return strings.Join(parts, " ")
}

func agentLimits(def subagent.Definition) (parts []string) {
	for _, tool := range limitedTools {
		if !def.Offers(tool) {
			if parts == nil {
				parts = append(parts, "no")
			}
			parts = append(parts, tool)
		}
	}
	if def.Mode != "" {
		parts = append(parts, "mode "+string(def.Mode))
	}
	if def.MaxTurns > 0 {
		parts = append(parts, fmt.Sprintf("turns %d", def.MaxTurns))
	}
	return parts
}

// hooksEnforce returns the decisions of a file's hooks about a command and a read.
func hooksEnforce(t *testing.T, text string) string {
	t.Helper()
	set := hooks.Parse([]byte(text), hooks.Origin{Source: hooks.Person, File: "hooks.json"})
	r := hooks.New(hooks.Options{Handlers: set.Handlers})
	defer r.Close()
	answers := r.BeforeTools(t.Context(), hooks.Where{},
		hooks.Call{Tool: "run_shell", Arguments: `{"command":"echo x"}`, Action: action.Action{Kind: action.Shell, Tool: "run_shell", Command: "echo x", Cwd: "/"}},
		hooks.Call{Tool: "read_file", Arguments: "{}", Action: action.Action{Kind: action.FileRead, Tool: "read_file", Path: "/x"}})
	var parts []string
	for i, what := range []string{"command", "reading"} {
		if d := answers[i].Decision; d != "" {
			parts = append(parts, what+" "+string(d))
		}
	}
	return strings.Join(parts, ", ")
}

// serverEnforces reads an entry of a project's servers.
func serverEnforces(t *testing.T, entry string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".mcp.json"), []byte(`{"mcpServers": {"x": {`+entry+`}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	found := serverParts(dir)
	if len(found.Parts) == 0 {
		if len(found.Problems) == 0 || found.Problems[0].Quiet {
			t.Errorf("%s: nobody is told", entry)
		}
		return "out"
	}
	var e serverEntry
	if err := json.Unmarshal([]byte(found.Parts[0].Definition), &e); err != nil {
		t.Fatal(err)
	}
	s := e.server(os.LookupEnv)
	switch {
	case s.Problem != "":
		return "out"
	case s.Off:
		return "off"
	}
	text := "on"
	if len(s.Tools) > 0 {
		text += ", tools " + strings.Join(s.Tools, " ")
	}
	if len(s.Deny) > 0 {
		text += ", not " + strings.Join(s.Deny, " ")
	}
	return text
}
