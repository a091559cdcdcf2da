package hooks

import (
	"strings"
	"testing"
	"time"

	"buddy/agent/action"
)

// A guard in any program's format refuses its calls. For a guard that is not understood, the calls that it may
// select need approval. Neither passes silently.
func TestGuardsInEveryForm(t *testing.T) {
	t.Parallel()
	const (
		command = `{"type": "command", "command": "exit 2"}`
		group   = `[{"matcher": "Bash", "hooks": [` + command + `]}]`
	)
	const denied, asked, passes = action.Deny, action.Ask, action.Decision("")
	read := Call{Tool: "read_file", Arguments: "{}", Action: action.Action{Kind: action.FileRead, Tool: "read_file", Path: "/w/a.go"}}
	echo := shellCall
	echo.Action.Command = "echo x"
	for name, tt := range map[string]struct {
		text       string
		echo, read action.Decision
		problem    string // in the problems
	}{
		"as it should be":            {`{"hooks": {"PreToolUse": ` + group + `}}`, denied, passes, ""},
		"camel case":                 {`{"hooks": {"preToolUse": ` + group + `}}`, denied, passes, ""},
		"snake case":                 {`{"hooks": {"pre_tool_use": ` + group + `}}`, denied, passes, ""},
		"BeforeTool":                 {`{"hooks": {"BeforeTool": [{"matcher": "run_shell_command", "hooks": [` + command + `]}]}}`, denied, passes, ""},
		"a pattern of Gemini's":      {`{"hooks": {"BeforeTool": [{"matcher": "^(run_shell_command|replace)$", "hooks": [` + command + `]}]}}`, denied, passes, ""},
		"nothing around it":          {`{"PreToolUse": ` + group + `}`, denied, passes, ""},
		"Hooks in capitals":          {`{"Hooks": {"PreToolUse": ` + group + `}}`, denied, passes, ""},
		"a byte order mark":          {"\ufeff" + `{"hooks": {"PreToolUse": ` + group + `}}`, denied, passes, ""},
		"flat":                       {`{"hooks": {"PreToolUse": [` + command + `]}}`, denied, denied, ""},
		"flat, with a matcher":       {`{"version": 1, "hooks": {"preToolUse": [{"command": "exit 2", "matcher": "Shell"}]}}`, denied, passes, ""},
		"one group and no list":      {`{"hooks": {"PreToolUse": {"matcher": "Bash", "hooks": ` + command + `}}}`, denied, passes, ""},
		"no type":                    {`{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"command": "exit 2"}]}]}}`, denied, passes, ""},
		"type in capitals":           {`{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "Command", "command": "exit 2"}]}]}}`, denied, passes, ""},
		"matcher bash":               {`{"hooks": {"PreToolUse": [{"matcher": "bash", "hooks": [` + command + `]}]}}`, denied, passes, ""},
		"matcher BASH|write":         {`{"hooks": {"PreToolUse": [{"matcher": "BASH|write", "hooks": [` + command + `]}]}}`, denied, passes, ""},
		"matcher ^bash$":             {`{"hooks": {"PreToolUse": [{"matcher": "^bash$", "hooks": [` + command + `]}]}}`, denied, passes, ""},
		"matcher that is a list":     {`{"hooks": {"PreToolUse": [{"matcher": ["Bash", "Edit"], "hooks": [` + command + `]}]}}`, denied, passes, ""},
		"matcher that is a rule":     {`{"hooks": {"PreToolUse": [{"matcher": "Bash(echo:*)", "hooks": [` + command + `]}]}}`, denied, passes, ""},
		"a rule for other commands":  {`{"hooks": {"PreToolUse": [{"matcher": "Bash(rm:*)", "hooks": [` + command + `]}]}}`, passes, passes, ""},
		"a rule without counterpart": {`{"hooks": {"PreToolUse": [{"matcher": "Bash(echo * x)", "hooks": [` + command + `]}]}}`, denied, passes, ""},
		"two rules":                  {`{"hooks": {"PreToolUse": [{"matcher": "Bash(rm:*)|Read(x)", "hooks": [` + command + `]}]}}`, denied, denied, ""},
		"a tool that is not here":    {`{"hooks": {"PreToolUse": [{"matcher": "NotebookEdit", "hooks": [` + command + `]}]}}`, passes, passes, ""},
		"one name of two":            {`{"hooks": {"PreToolUse": [{"matcher": "Bash|Bsah", "hooks": [` + command + `]}]}}`, denied, passes, "tools that buddy doesn't have: Bsah"},
		"no such tool":               {`{"hooks": {"PreToolUse": [{"matcher": "Bsah", "hooks": [` + command + `]}]}}`, asked, asked, "would never run"},
		"a pattern for nothing":      {`{"hooks": {"PreToolUse": [{"matcher": "Bsah.*", "hooks": [` + command + `]}]}}`, asked, asked, "would never run"},
		"no pattern":                 {`{"hooks": {"PreToolUse": [{"matcher": "Bash(", "hooks": [` + command + `]}]}}`, asked, asked, "not a valid regular expression"},
		"matcher that is an object":  {`{"hooks": {"PreToolUse": [{"matcher": {"tool": "Bash"}, "hooks": [` + command + `]}]}}`, asked, asked, "not a valid regular expression"},
		"type prompt":                {`{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "prompt", "prompt": "x"}]}]}}`, asked, passes, `type "prompt"`},
		"type prompt, accepted":      {`{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "prompt", "on_error": "ignore"}]}]}}`, passes, passes, `type "prompt"`},
		"Copilot's bash":             {`{"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "exit 2", "timeoutSec": 5}]}}`, asked, asked, "no command"},
		"beforeShellExecution":       {`{"version": 1, "hooks": {"beforeShellExecution": [{"command": "exit 2"}]}}`, asked, asked, `hooks for "beforeShellExecution"`},
		"a text":                     {`{"hooks": {"PreToolUse": ["./guard.sh"]}}`, asked, asked, "can't have type string"},
		"a misspelled key":           {`{"hooks": {"PreToolUse": [{"matcher": "Bash", "hook": [` + command + `]}]}}`, asked, passes, "no command"},
		"elsewhere":                  {`{"hook": {"PreToolUse": ` + group + `}}`, asked, asked, `not in the table "hooks"`},
		"none of them":               {`{"hooks": {"PreToolUse": []}}`, passes, passes, ""},
		"a text that names one":      {`{"permissions": {"allow": ["Bash(echo PreToolUse)"]}}`, passes, passes, ""},
		"twice":                      {`{"hooks": {"PreToolUse": ` + group + `, "preToolUse": []}}`, denied, asked, "occurs twice"},
		"twice the same":             {`{"hooks": {"PreToolUse": ` + group + `, "PreToolUse": []}}`, asked, asked, "occurs twice"},
		"a list":                     {`{"hooks": [{"event": "PreToolUse", "command": "exit 2"}]}`, asked, asked, "is not a table"},
		"cut off":                    {`{"hooks": {"PreToolUse": [{"matcher": "Ba`, asked, asked, "unexpected end"},
		"cut off before the event":   {`{"hooks": {`, asked, asked, "not valid JSON: unexpected end of JSON input; until you fix it, calls that the hook may apply to need approval"},
		"cut off before the hooks":   {`{"model": "opus", `, asked, asked, "need approval"},
		"too long":                   {`{"model": "opus"}` + strings.Repeat(" ", maxFile), asked, asked, "need approval"},
		"empty":                      {"", passes, passes, "the file is empty"},
		"a misspelled guard":         {`{"hooks": {"PreTolUse": ` + group + `}}`, asked, asked, `there is no event "PreTolUse" (did you mean PreToolUse?); until you fix it`},
		"a comment":                  {"// mine\n" + `{"hooks": {"PreToolUse": ` + group + `}}`, asked, asked, "invalid character"},
		"switched off":               {`{"disableAllHooks": true, "hooks": {"PreToolUse": ` + group + `}}`, passes, passes, "disableAllHooks"},
		"one switched off":           {`{"hooks": {"PreToolUse": [{"hooks": [{"command": "exit 2", "enabled": false}]}]}}`, passes, passes, "turned off"},
	} {
		set := Parse([]byte(tt.text), Origin{Source: Person, File: "hooks.json"})
		var problems []string
		for _, p := range set.Problems {
			problems = append(problems, p.String())
		}
		if all := strings.Join(problems, "\n"); (tt.problem == "") != (all == "") || !strings.Contains(all, tt.problem) {
			t.Errorf("%s: it says %q, want %q", name, all, tt.problem)
		}
		r, _ := runner(t, Options{Handlers: set.Handlers})
		answers := r.BeforeTools(t.Context(), Where{}, echo, read)
		if answers[0].Decision != tt.echo || answers[1].Decision != tt.read {
			t.Errorf("%s: echo %q, read %q; want %q, %q", name, answers[0].Decision, answers[1].Decision, tt.echo, tt.read)
		}
	}
}

// Time limits are in the unit of the program that has the event.
func TestTimeLimitsOfOtherPrograms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		`{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "x", "timeout": 5000}]}]}}`: 5 * time.Second,
		`{"hooks": {"preToolUse": [{"command": "x", "timeoutSec": 7}]}}`:                                 7 * time.Second,
		`{"hooks": {"PreToolUse": [{"command": "x", "timeout": 5000}]}}`:                                 maxTimeout,
	} {
		if set := Parse([]byte(text), Origin{}); len(set.Handlers) != 1 || set.Handlers[0].limit() != want {
			t.Errorf("%s: %+v", text, set)
		}
	}
}
