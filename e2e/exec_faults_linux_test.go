package e2e

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/modeltest"
)

// faulty is a folder and a home with faulty files. For each fault that the screen reports, at its start or in its
// lists, exec prints one line on its standard error.
type faulty struct {
	files map[string]string // in the folder; home/ is the home folder
	make  string            // a shell command that creates more files
	tries []string          // tools of servers that the model calls
	says  []string          // patterns of the expected messages
	limits
}

// limits are patterns of messages that --quiet does not suppress.
type limits []string

// faults maps the kinds of faults to folders with them.
var faults = map[string]faulty{
	"agents, skills and commands": {
		files: map[string]string{
			".claude/agents/broken.md":              "---\ndescription: only reads\nand goes on\ntools: Read\n---\nWork.",
			".claude/agents/wrong.md":               "---\ndescription: d\npermissionMode: lookonly\n---\nWork.",
			".claude/agents/unknown.md":             "---\ndescription: d\ncapabilities-allowed: read\n---\nWork.",
			".claude/agents/guarded.md":             "---\ndescription: d\nhooks:\n  PreToolUse: [{hooks: [{command: exit 2}]}]\n---\nWork.",
			".claude/agents/silent.md":              "---\nname: silent\n---\nWork.",
			".claude/agents/Bad_Name.md":            "---\ndescription: d\n---\nWork.",
			".claude/agents/blank.md":               "---\ndescription: d\n---\n",
			".claude/agents/twin.md":                "---\nname: twin\ndescription: d\n---\nWork.",
			".claude/agents/twin-copy.md":           "---\nname: twin\ndescription: d\n---\nWork.",
			".codex/agents/reviewer.toml":           "name = \"reviewer\"\nsandbox_mode = \"read-only\"\n",
			".claude/skills/odd/SKILL.md":           "---\ndescription: d\ndisable-model-invocation: please\n---\nDo it.",
			".claude/skills/late/SKILL.md":          "# Late\n\n---\ndescription: d\ndisable-model-invocation: true\n---\nDo it.",
			".claude/skills/hooked/SKILL.md":        "---\ndescription: d\nhooks: ./guard.sh\n---\nDo it.",
			".claude/skills/small/skill.md":         "Do it.",
			".claude/skills/empty/SKILL.md":         "",
			".claude/skills/g_h/SKILL.md":           "Do it.",
			".claude/skills/open/SKILL.md":          "---\ndescription: d\nDo it.",
			".agents/skills/own/SKILL.md":           "---\ndescription: d\n---\nDo it.",
			".agents/skills/own/agents/openai.yaml": "policy: [\n",
			".claude/commands/nothing.md":           "",
			".claude/commands/latin.md":             "caf\xe9",
			".claude/commands/Fix_It.md":            "Fix it.",
		},
		make: "mkdir .claude/skills/out && ln -s /etc/passwd .claude/skills/out/SKILL.md",
		limits: limits{
			`agent .*/broken.md:3: left out: the front matter is not valid YAML: .*, so tools would have no effect`,
			`agent .*/wrong.md: left out: permissionMode: "lookonly" is not a mode`,
			`agent .*/unknown.md: left out: capabilities-allowed: it looks like a limit that buddy doesn't know`,
			`agent .*/guarded.md: left out: hooks: buddy doesn't run hooks in such a file, and its hooks for "PreToolUse" may refuse a call: move them to hooks.json`,
			`skill .*/odd/SKILL.md:3: left out: disable-model-invocation: "please" is neither true nor false`,
			`skill .*/late/SKILL.md:3: left out: the front matter must be at the start of the file`,
			`skill .*/hooked/SKILL.md:3: left out: hooks: buddy doesn't run hooks in such a file, and can't tell which calls its hooks would refuse`,
		},
		says: []string{
			`agent .*/silent.md: left out: it has no description`,
			`agent .*/Bad_Name.md: left out: the name "bad_name" is not valid: .*; bad-name would be valid`,
			`agent .*/blank.md: left out: the file has no text`,
			`agent .*/twin.md: left out: it is the same as .*/twin-copy.md`,
			`agent .*/.codex/agents: left out: buddy doesn't read agents in TOML: reviewer.toml`,
			`skill .*/small/skill.md: left out: the file must be named SKILL.md`,
			`skill .*/empty/SKILL.md: left out: the file has no text`,
			`skill .*/g_h/SKILL.md: left out: the name "g_h" is not valid`,
			`skill .*/open/SKILL.md: left out: the front matter has no closing line ---`,
			`skill .*/out/SKILL.md: left out: the link points outside`,
			`skill .*/openai.yaml: left out: line 1: the file is not valid YAML: .*; until you fix it, models can't load the skill by themselves`,
			`command .*/nothing.md: left out: the file has no text`,
			`command .*/latin.md: left out: the file is not UTF-8 text`,
			`command .*/Fix_It.md: left out: the name "fix_it" is not valid: .*; fix-it would be valid`,
		},
	},
	"hooks": {
		files: map[string]string{
			"home/.config/buddy/buddy.toml": "[hooks]\nalso = [\"~/cut.json\", \"~/typo.json\", \"~/prompt.json\", \"~/gone.json\", \"~/folder.json\", \"~/empty.json\"]\n",
			"home/cut.json":                 `{"hooks": {`,
			"home/typo.json":                `{"hooks": {"PreToolUse": [{"matcher": "Bsah", "hooks": [{"command": "exit 2"}]}]}}`,
			"home/prompt.json":              `{"hooks": {"PreToolUse": [{"hooks": [{"type": "prompt", "prompt": "x"}]}]}}`,
			"home/empty.json":               "",
			"home/folder.json/x":            "",
			"home/.config/buddy/hooks.json": `{"hooks": {
"Stopp": [{"hooks": [{"command": "true"}]}],
"Stop": [{"hooks": [
{"type": "command"},
{"command": "true", "timeout": -1},
{"command": "true", "if": "Bash(ls)"},
{"command": "exit 3"}
]}],
"PreCompact": [{"hooks": [{"command": "./gone.sh"}]}]
}}`,
		},
		limits: limits{
			`hook skipped: .*/cut.json:1: the file is not valid JSON: unexpected end of JSON input; until you fix it, calls that the hook may apply to need approval`,
			`hook skipped: .*/typo.json:1: the matcher "Bsah" matches none of buddy's tools, so the hook would never run; until you fix it`,
			`hook skipped: .*/prompt.json:1: a hook of type "prompt" is not run by buddy .*; until you fix it`,
			`hook skipped: .*/folder.json: buddy can't read the file: is a directory; until you fix it`,
		},
		says: []string{
			`hook skipped: .*/gone.json: buddy can't read the file: no such file or directory`,
			`hook skipped: .*/empty.json: the file is empty`,
			`hook skipped: .*/hooks.json:2: there is no event "Stopp" \(did you mean Stop\?\)`,
			`hook skipped: .*/hooks.json:4: the hook has no command`,
			`hook skipped: .*/hooks.json:5: timeout -1 is not a number of seconds`,
			`hook skipped: .*/hooks.json:6: if "Bash\(ls\)": Stop is not about a tool call`,
			`hook gone.sh \(PreCompact\): .*/gone.sh does not exist`,
			`the hook exit \(Stop\) failed: it ended with exit code 3`,
		},
	},
	"servers": {
		files: map[string]string{
			"home/.config/buddy/buddy.toml": "[mcp.keyless]\nurl = \"http://127.0.0.1:1/mcp\"\nbearer_env = \"NOT_SET\"\n[mcp.dead]\ncommand = [\"false\"]\n[mcp.taken]\ncommand = [\"false\"]\nenabled = false\n" +
				"[mcp.refused]\nurl = \"REFUSES\"\nheaders = [\"Authorization: Bearer x\"]\n",
			".mcp.json": `{"mcpServers": {
"odd": {"command": "true", "enabled": "sometimes"},
"permits": {"command": "true", "permissions": {"drop": "deny"}},
"nameless": {"command": "true", "args": ["${NEVER_SET}"]},
"socket": {"type": "ws", "url": "wss://x.example"},
"taken": {"command": "true"},
"idle": {},
"helped": {"type": "http", "url": "https://x.example", "headersHelper": "./x"},
"wrong__name": {"command": "true"},
"listed": ["true"]
}}`,
		},
		make:  "buddy trust",
		tries: []string{"mcp__dead__x", "mcp__refused__x"},
		limits: limits{
			`skipped in .mcp.json: server "odd": enabled: it is neither true nor false; the server is off, because buddy doesn't understand its limits`,
			`skipped in .mcp.json: server "permits": permissions: it looks like a limit that buddy doesn't know; the server is off`,
		},
		says: []string{
			`MCP server keyless is not started: the variable NOT_SET \(bearer_env\) is not set`,
			`MCP server failed: dead \(.*\)`,
			`MCP server failed: refused \(it rejected the Authorization header that its settings define \(HTTP 401\): .*\)`,
			`MCP server nameless is not started: the variable NEVER_SET is not set`,
			`MCP server socket is not started: type "ws" is not supported \(have: stdio, http, sse\)`,
			`MCP server project:taken is not started: another server with this name has priority`,
			`MCP server idle is not started: it has neither command nor url`,
			`MCP server helped is not started: headersHelper runs a program for each header`,
			`MCP server wrong__name is not started: .*__`,
			`skipped in .mcp.json: server "listed": it can't have type array`,
		},
	},
	"instruction files and settings": {
		files: map[string]string{
			"home/.config/buddy/buddy.toml":  "[tools]\nshell_confirm = true\n",
			"buddy.toml":                     "[agent]\nfallback_model = \"x\"\n[models.test]\nmodel = \"y\"\n",
			"AGENTS.md":                      "\xff\xfea\x00",
			"CLAUDE.local.md":                " \n",
			".buddy/rules/many.md":           "---\npaths: [\"[\"]\n---\nUse tabs.",
			".buddy/rules/long.md":           strings.Repeat("Use tabs.\n", 3000),
			"home/.config/buddy/AGENTS.md/x": "",
		},
		make: "git init -q && chmod 644 home/.config/buddy/buddy.toml",
		says: []string{
			`instruction file .*/AGENTS.md: left out: the file is UTF-16: save it as UTF-8`,
			`instruction file .*/CLAUDE.local.md: left out: the file is empty`,
			`instruction file .*/many.md: left out: "\[" in paths is not a glob pattern`,
			`instruction file .*/long.md: cut: the model gets only the first \d+ bytes of 30000`,
			`instruction file .*/buddy/AGENTS.md: left out: it is a folder, not a regular file$`,
			`.*/buddy.toml:\d+: tools.shell_confirm is an old name: write mode = `,
			`.*/buddy.toml holds a key and other users may open it \(mode 0644\): chmod 600 it`,
			`buddy.toml: these settings are ignored, because a project's file may not set them: models.test.model`,
			`buddy.toml: these settings are ignored until you trust this folder \(.*buddy trust\): agent.fallback_model`,
		},
	},
	"a project that is not trusted": {
		files: map[string]string{
			".buddy/hooks.json": `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"command": "sh guard.sh"}]}], "Stop": [{"hooks": [{"type": "http", "url": "x"}]}]}}`,
			"guard.sh":          "exit 2",
			".mcp.json":         `{"mcpServers": {"new": {"command": "true"}}}`,
		},
		make:   "buddy trust --part hook:PreToolUse:Bash && echo exit 0 > guard.sh",
		limits: limits{`Off, because it changed since you trusted it: hook PreToolUse:Bash; see .*buddy trust`},
		says: []string{
			`Needs your trust before it runs: mcp new; see .*buddy trust`,
			`skipped in .buddy/hooks.json: a hook of type "http" is not run by buddy`,
		},
	},
}

// screenOnly matches instructions that only a person at a screen can follow: commands of a session, and keys.
var screenOnly = regexp.MustCompile(`(^|[ (])/(trust|mcp|model|hooks|skills|agents|login|approve|compact|session|config)\b($|[^/.\w])|\b([Pp]ress|Enter|Esc|Shift\+|Ctrl\+|F\d+)\b`)

// TestExecSaysWhatTheScreenSays: exec reports faults in the person's and the project's files on its standard error, one
// line each and once, in words that apply there. It warns about inactive restrictions even with --quiet.
func TestExecSaysWhatTheScreenSays(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	t.Cleanup(refuses.Close)
	all := 0
	for name, tt := range faults {
		all += len(tt.says) + len(tt.limits)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := tt.folder(t, refuses.URL)
			screen := d.stderrOf("go on\n/skills\n/agents\n/hooks\n/mcp\n", "--plain", "--approve", "all")
			lines := remarksIn(d.stderrOf("", "exec", "--approve", "all", "go on"))
			quiet := remarksIn(d.stderrOf("", "exec", "--approve", "all", "--quiet", "go on"))
			for _, pattern := range append(tt.says, tt.limits...) {
				if !matcher(pattern).MatchString(screen) && !shown(screen, pattern, lines) {
					t.Errorf("the screen does not say %s", pattern)
				}
				if n := count(lines, pattern); n != 1 {
					t.Errorf("exec says %d times %s", n, pattern)
				}
			}
			for _, pattern := range tt.limits {
				if n := count(quiet, pattern); n != 1 {
					t.Errorf("exec --quiet says %d times %s", n, pattern)
				}
			}
			if len(lines) != len(tt.says)+len(tt.limits) || len(quiet) != len(tt.limits) || t.Failed() {
				t.Errorf("%d lines for %d faults, %d for %d limits\nscreen:\n%s\nexec:\n%s\nexec --quiet:\n%s", len(lines), len(tt.says)+len(tt.limits), len(quiet), len(tt.limits),
					screen, strings.Join(lines, "\n"), strings.Join(quiet, "\n"))
			}
			if found := screenOnly.FindString(strings.Join(lines, "\n")); found != "" {
				t.Errorf("exec names %q:\n%s", found, strings.Join(lines, "\n"))
			}
		})
	}
	if all < 40 {
		t.Errorf("%d faults", all)
	}
}

// folder creates the files of a test, with a model that tries the tools of servers.
func (f faulty) folder(t *testing.T, refuses string) *dialog {
	t.Helper()
	d := newDialog(t, "xterm-256color")
	d.server = modeltest.Start(t, func(r modeltest.Request) modeltest.Answer {
		done := 0
		for _, m := range r.Messages {
			if m.Role == model.Tool {
				done++
			}
		}
		if done >= len(f.tries) {
			return modeltest.Answer{modeltest.Text("done")}
		}
		return modeltest.Answer{modeltest.Call{ID: "c" + f.tries[done], Name: "use_tool", Arguments: `{"name":"` + f.tries[done] + `","args":{}}`}}
	})
	for _, name := range []string{"AGENTS.md", "more.md", "home/.config/buddy/AGENTS.md"} {
		if err := os.Remove(filepath.Join(d.work, name)); err != nil {
			t.Fatal(err)
		}
	}
	settings := "home/.config/buddy/buddy.toml"
	d.write(settings, "[agent]\nmodel = \"test\"\n[models.test]\napi_base_url = \""+d.server.URL+"\"\napi_key = \"x\"\nmodel = \"m\"\ncontext_limit = 100000\n")
	for name, text := range f.files {
		if name == settings {
			d.add(name, strings.ReplaceAll(text, "REFUSES", refuses))
		} else {
			d.write(name, text)
		}
	}
	if f.make != "" {
		cmd := exec.Command("sh", "-c", f.make)
		cmd.Dir, cmd.Env = d.cmd.Dir, d.cmd.Env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return d
}

// stderrOf runs the program with the given standard input, and returns its standard error.
func (d *dialog) stderrOf(stdin string, args ...string) string {
	d.t.Helper()
	var errs bytes.Buffer
	cmd := exec.Command("buddy", args...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stderr = d.cmd.Dir, d.cmd.Env, strings.NewReader(stdin), &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if _, ok := errors.AsType[*exec.ExitError](cmd.Run()); ok {
		d.t.Errorf("%v: %s", args, errs.String())
	}
	return errs.String()
}

// remarksIn returns the messages of exec, without those about the model's calls.
func remarksIn(printed string) []string {
	var all []string
	for line := range strings.Lines(printed) {
		if line = strings.TrimSpace(strings.TrimPrefix(line, "buddy: ")); line != "" && !strings.ContainsAny(line[:min(len(line), 3)], "▶←⊘") {
			all = append(all, line)
		}
	}
	return all
}

// matcher matches a pattern at the start of a line.
func matcher(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?m)^` + pattern) }

func count(lines []string, pattern string) (n int) {
	for _, line := range lines {
		if matcher(pattern).MatchString(line) {
			n++
		}
	}
	return n
}

// shown reports whether a list on the screen has the message that a pattern describes for a file or server, like lines
// of exec; a list also shows the kind.
func shown(screen, pattern string, lines []string) bool {
	for _, kind := range []string{"agent ", "skill ", "command ", "hook skipped: ", "skipped in .mcp.json: "} {
		if fact, ok := strings.CutPrefix(pattern, kind); ok && regexp.MustCompile(fact).MatchString(screen) {
			return true
		}
	}
	for _, line := range lines { // the list of servers cuts long reasons
		if !matcher(pattern).MatchString(line) {
			continue
		}
		if m := regexp.MustCompile(`^MCP server (?:failed: )?([\w:]+)`).FindStringSubmatch(line); m != nil {
			row := regexp.MustCompile(`(?m)^[ *]*\d+  ` + m[1] + ` +(?:off|failed) +–  (.+?)…?$`).FindStringSubmatch(screen)
			return row != nil && strings.Contains(line, row[1])
		}
	}
	return false
}
