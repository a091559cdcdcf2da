package hooks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestFileOfHooks(t *testing.T) {
	t.Parallel()
	set := Parse([]byte(`{
  "env": {"X": "1"},
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [
        {"type": "command", "command": "./a.sh", "timeout": 5, "statusMessage": "looks", "once": true, "on_error": "ignore"},
        {"type": "command", "command": "/bin/b", "args": ["$CLAUDE_PROJECT_DIR/x"]}
      ]}
    ],
    "Stop": [{"hooks": [{"type": "command", "command": "make test", "async": true}]}]
  }
}`), Origin{Source: Person, File: "h.json"})
	if len(set.Problems) > 0 || len(set.Handlers) != 3 {
		t.Fatalf("%+v", set)
	}
	a, b, c := set.Handlers[0], set.Handlers[1], set.Handlers[2]
	if a.Timeout != 5*time.Second || a.Status != "looks" || !a.Once || !a.Ignore || a.Line != 6 || a.Name() != "a.sh" || a.limit() != 5*time.Second {
		t.Errorf("%+v", a)
	}
	if !b.Direct || b.Line != 7 || b.Name() != "b" || b.limit() != 30*time.Second {
		t.Errorf("%+v", b)
	}
	if !c.Async || c.Name() != "make" || c.limit() != 10*time.Minute {
		t.Errorf("%+v", c)
	}
}

func TestWhatIsLeftOutIsNamedWithItsLine(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		want string // of the first problem
		left int    // hooks that still work
	}{
		"no JSON":        {"{\n \"hooks\": {,\n}", "h.json:2: the file is not valid JSON: invalid character", 0},
		"no object":      {"[]", "h.json:1: the file is not a JSON object", 0},
		"empty":          {" \n", "h.json: the file is empty", 0},
		"misspelled":     {"{\"hooks\": {\n\"Stopp\": [{\"hooks\": [{\"command\":\"x\"}]}]}}", `h.json:2: there is no event "Stopp" (did you mean Stop?)`, 0},
		"unknown event":  {"{\"hooks\": {\n\"TeammateIdle\": [],\n\"Stop\": [{\"hooks\": [{\"type\":\"command\",\"command\":\"x\"}]}]}}", `h.json:2: hooks for "TeammateIdle" are not run by buddy`, 1},
		"type":           {"{\"hooks\": {\"Stop\": [{\"hooks\": [\n{\"type\":\"http\",\"url\":\"x\"},\n{\"type\":\"command\",\"command\":\"x\"}]}]}}", `h.json:2: a hook of type "http" is not run by buddy`, 1},
		"no command":     {`{"hooks": {"Stop": [{"hooks": [{"type":"command"}]}]}}`, "has no command", 0},
		"matcher":        {"{\"hooks\": {\"PreToolUse\": [\n{\"matcher\": \"Bash(\", \"hooks\": [\n{\"type\":\"command\",\"command\":\"x\"}]}]}}", `h.json:3: the matcher "Bash(" is not a valid regular expression`, 0},
		"backtracking":   {`{"hooks": {"PreToolUse": [{"matcher": "(?!x)", "hooks": [{"command":"x"}]}]}}`, "is not a valid regular expression", 0},
		"timeout":        {`{"hooks": {"Stop": [{"hooks": [{"type":"command","command":"x","timeout":-1}]}]}}`, "not a number of seconds", 0},
		"timeout's type": {`{"hooks": {"Stop": [{"hooks": [{"type":"command","command":"x","timeout":"1m"}]}]}}`, `"timeout" can't have type string`, 0},
		"on_error":       {`{"hooks": {"Stop": [{"hooks": [{"type":"command","command":"x","on_error":"pass"}]}]}}`, "on_error", 0},
		"if":             {`{"hooks": {"PreToolUse": [{"hooks": [{"type":"command","command":"x","if":"Nonsense(x)"}]}]}}`, `unknown tool "Nonsense"`, 0},
		"if of no tool":  {`{"hooks": {"Stop": [{"hooks": [{"type":"command","command":"x","if":"Bash(ls)"}]}]}}`, "not about a tool call", 0},
		"async guard":    {`{"hooks": {"PreToolUse": [{"hooks": [{"type":"command","command":"x","async":true}]}]}}`, "can't be async", 0},
		"switched off":   {`{"disableAllHooks": true, "hooks": {"Stop": [{"hooks": [{"type":"command","command":"x"}]}]}}`, "disableAllHooks", 0},
		"too long":       {`{"hooks": {}}` + strings.Repeat(" ", maxFile), "bytes (allowed", 0},
		"long command":   {`{"hooks": {"Stop": [{"hooks": [{"type":"command","command":"` + strings.Repeat("x", maxCommand+1) + `"}]}]}}`, "bytes (allowed", 0},
		"too many":       {`{"hooks": {"Stop": [{"hooks": [` + strings.TrimSuffix(strings.Repeat(`{"type":"command","command":"x"},`, maxHandlers+1), ",") + `]}]}}`, "more than 200 hooks", maxHandlers},
	} {
		set := Parse([]byte(tt.text), Origin{Source: Person, File: "h.json"})
		left := 0
		for _, h := range set.Handlers {
			if h.Lost == "" {
				left++
			}
		}
		if len(set.Problems) == 0 || !strings.Contains(set.Problems[0].String(), tt.want) || left != tt.left {
			t.Errorf("%s: %d hooks, %v; want %q", name, left, set.Problems, tt.want)
		}
	}
	if set := Parse([]byte(`{"permissions": {}}`), Origin{}); len(set.Problems)+len(set.Handlers) != 0 {
		t.Errorf("a file without hooks: %+v", set)
	}
}

func TestNameOfAHook(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		`"$CLAUDE_PROJECT_DIR"/.claude/hooks/check.sh --fast`: "check.sh",
		"python3 hooks/guard.py":                              "guard.py",
		"X=1 jq -r .a":                                        "jq",
		"bash -c ./run.sh":                                    "run.sh",
		"make test":                                           "make",
		`""`:                                                  "without a name",
	} {
		if got := (Handler{Command: command}).Name(); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

func TestPartOfAProject(t *testing.T) {
	t.Parallel()
	set := ParsePart([]byte(`{"event":"PreToolUse","matcher":"Bash","hook":{"type":"command","command":"./x"}}`), Origin{Source: Project, File: ".buddy/hooks.json"})
	if len(set.Handlers) != 1 || set.Handlers[0].Event != PreToolUse || set.Handlers[0].Matcher != "Bash" {
		t.Errorf("%+v", set)
	}
	lost := ParsePart([]byte(`{"event":"PreToolUse","matcher":"(","hook":{}}`), Origin{})
	if len(lost.Handlers) != 1 || lost.Handlers[0].Lost == "" || len(lost.Problems) != 1 || lost.Problems[0].Quiet {
		t.Errorf("%+v", lost)
	}
	for _, text := range []string{"", "{}", `{"event":"Nothing","hook":{}}`, `{"event":"Stop","hook":{"type":"http"}}`} {
		if set := ParsePart([]byte(text), Origin{}); len(set.Handlers) != 0 || len(set.Problems) != 1 {
			t.Errorf("%q: %+v", text, set)
		}
	}
}

func TestScriptThatDoesNotExistIsKnownAtLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "there.sh"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"./there.sh":                            "",
		"sh ./there.sh ./none":                  "",
		`"$CLAUDE_PROJECT_DIR"/there.sh`:        "",
		"touch /nowhere/x":                      "",
		"sh -c './none.sh'":                     "",
		"$HOME/none.sh":                         "",
		"jq .x":                                 "",
		"./none.sh --fast":                      filepath.Join(dir, "none.sh"),
		"python3 hooks/none.py":                 filepath.Join(dir, "hooks/none.py"),
		`"$CLAUDE_PROJECT_DIR"/.claude/none.sh`: filepath.Join(dir, ".claude/none.sh"),
		"/nowhere/guard":                        "/nowhere/guard",
	} {
		if got := (Handler{Command: command}).Missing(dir, dir); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}
