package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/adrg/xdg"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/model/modeltest"
	"buddy/sessions"
)

// hostileText contains controls of terminals: colours, the clipboard (OSC 52), the title, C1 controls, bidi overrides
// and isolates, NUL, CR, DEL, backspace, a line separator, an unassigned tag.
const hostileText = "evil\x1b[31m\x1b]52;c;ZXZpbA==\x07\x1b]0;t\x1b\\\u009b2J\u0090q\u009c\u202elive\u202c\u2066x\u2069\x00\rover\x7f\x08\u2028\u200b\U000e0041end"

// obeyed returns the first character of an output that controls a terminal or reorders text, or a byte that some
// terminals interpret like that.
func obeyed(out string) (rune, bool) {
	for _, r := range out {
		switch {
		case r == '\n', r == '\t':
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == '\u2028', r == '\u2029', r >= 0xe0000 && r < 0xe0080:
			return r, true
		}
	}
	return utf8.RuneError, !utf8.ValidString(out)
}

// hostileHome is a folder with a session that is hostile in every text, and the settings of a model with such answers.
type hostileHome struct {
	t    *testing.T
	work string
	env  []string
}

func newHostileHome(t *testing.T, script modeltest.Script) *hostileHome {
	t.Helper()
	h := &hostileHome{t: t, work: t.TempDir()}
	home := filepath.Join(h.work, "home")
	run, err := os.MkdirTemp("", "b") // short, because the paths of sockets are limited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(run) })
	settings := "[agent]\nmodel = \"test\"\n[models.test]\napi_base_url = \"" + modeltest.Start(t, script).URL + "\"\napi_key = \"\"\nmodel = \"test\"\ncontext_limit = 100000\n"
	for name, text := range map[string]string{"home/.config/buddy/buddy.toml": settings, "hostile.txt": hostileText + "\n"} {
		path := filepath.Join(h.work, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); name != "TMUX" && name != "TMUX_PANE" && !strings.HasPrefix(name, "BUDDY_") {
			h.env = append(h.env, e)
		}
	}
	h.env = append(h.env, "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config", "XDG_STATE_HOME="+home+"/.local/state", "XDG_RUNTIME_DIR="+run,
		"BUDDY_TMUX_SOCKET="+filepath.Join(run, "tmux"), "TERM=xterm", "BUDDY_LOCAL_SERVERS=off", "GORACE=atexit_sleep_ms=0")
	t.Cleanup(xdg.Reload)
	t.Setenv("XDG_STATE_HOME", home+"/.local/state") // as the program sets it
	xdg.Reload()
	return h
}

// session stores a session of hostile events.
func (h *hostileHome) session() {
	h.t.Helper()
	store, _, err := sessions.Dir(h.work, sessions.Automatic)
	if err != nil {
		h.t.Fatal(err)
	}
	const id = "0001-0000-0000-0000"
	j, err := store.Create(sessions.Header{ID: id, Cwd: h.work, Target: hostileText, Model: hostileText})
	if err != nil {
		h.t.Fatal(err)
	}
	act := action.Action{Kind: action.Shell, Tool: hostileText, Command: hostileText, Why: hostileText, Path: hostileText}
	failed := 1
	for i, p := range []event.Event{
		event.PromptSubmitted{ID: 1, Text: hostileText},
		event.TaskStarted{ID: 1, Title: hostileText},
		event.ModelRetry{Attempt: 1, Why: hostileText},
		event.ModelMessage{Reasoning: hostileText, Message: model.Message{Role: model.Assistant, Content: hostileText, ToolCalls: []model.ToolCall{{ID: "c", Name: hostileText, Arguments: hostileText}}}},
		event.ToolRequested{CallID: "c", Name: hostileText, Arguments: hostileText, Action: act, Target: hostileText},
		event.DecisionExplained{
			CallID: "c", Reasoning: hostileText, From: hostileText, Confidence: hostileText, Alternatives: []string{hostileText},
			Rules: []event.DecisionRule{{Rule: hostileText, Text: hostileText}},
		},
		event.ToolResult{CallID: "c", Name: hostileText, Result: hostileText, IsError: true, ExitCode: &failed, DurationMS: 5, Tail: hostileText},
		event.Error{Text: hostileText, NextStep: hostileText},
		event.TaskFinished{ID: 1, Outcome: event.Failed, Error: hostileText},
	} {
		if err := j.Append(event.Envelope{Seq: uint64(i + 1), Time: time.Now().UnixMilli(), Session: id, Task: 1, Turn: 1, Payload: p}); err != nil {
			h.t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		h.t.Fatal(err)
	}
}

// buddy runs the program with pipes and returns both of its outputs.
func (h *hostileHome) buddy(input string, args ...string) (stdout, stderr string) {
	h.t.Helper()
	var out, err bytes.Buffer
	c := exec.CommandContext(h.t.Context(), "buddy", args...)
	c.Dir, c.Env, c.Stdin, c.Stdout, c.Stderr = h.work, h.env, strings.NewReader(input), &out, &err
	if ran := c.Run(); ran != nil && c.ProcessState == nil {
		h.t.Fatal(ran)
	}
	return out.String(), err.String()
}

// No command prints text of a model, a tool or a file in a form that controls a terminal, neither on pipes nor in
// files, and JSON keeps its meaning.
func TestNoCommandPrintsControlCharacters(t *testing.T) {
	h := newHostileHome(t, func(modeltest.Request) modeltest.Answer { return modeltest.Answer{modeltest.Text(hostileText)} })
	h.session()
	file := filepath.Join(h.work, "session.json")
	h.buddy("", "sessions", "export", "0001", "--format", "json", "--output", file)
	if data, err := os.ReadFile(file); err != nil {
		t.Error(err)
	} else if r, bad := obeyed(string(data)); bad {
		t.Errorf("the exported file holds %U", r)
	}
	if out, err := h.buddy("", "sessions", "import", file); !strings.Contains(out, "-") { // the import also makes the folder known to --all
		t.Errorf("import: %s%s", out, err)
	}
	for _, args := range [][]string{
		{"trace", "0001"},
		{"trace", "0001", "--json"},
		{"trace", "0001", "--turn", "1"},
		{"trace", "0001", "--audit"},
		{"trace", "0001", "--audit", "--json"},
		{"sessions", "show", "0001"},
		{"sessions", "show", "0001", "--json"},
		{"sessions", "list"},
		{"sessions", "list", "--all"},
		{"sessions", "list", "--json"},
		{"sessions", "search", "evil"},
		{"sessions", "search", "evil", "--all"},
		{"sessions", "search", "evil", "--json"},
		{"sessions", "export", "0001"},
		{"sessions", "export", "0001", "--format", "json"},
		{"sessions", "export", "0001", "--format", "html"},
		{"sessions", "search", hostileText + "?"},
		{"sessions", "list", hostileText},
		{"resume", hostileText},
		{hostileText},
		{"--theme", hostileText, "exec", "x"},
		{"__complete", "resume", ""},
		{"models"},
		{"config", "show"},
		{"config", "show", "--json"},
		{"doctor"}, // settings themselves can't contain any
		{"policy", "explain", strings.ReplaceAll(hostileText, "\x00", "")},
		{"policy", "explain", "--json", strings.ReplaceAll(hostileText, "\x00", "")},
	} {
		for i, a := range args {
			args[i] = strings.ReplaceAll(a, "\x00", "") // arguments can't contain any
		}
		out, err := h.buddy("", args...)
		if r, bad := obeyed(out + err); bad {
			t.Errorf("buddy %q prints %U:\n%q\n%q", args, r, out, err)
		}
		if !strings.Contains(out+err, "evil") && !slices.Contains([]string{"doctor", "models", "config", "policy"}, args[0]) {
			t.Errorf("buddy %q does not show the text at all:\n%s\n%s", args, out, err)
		}
	}
	var shown struct{ Model string }
	if out, _ := h.buddy("", "sessions", "show", "0001", "--json"); json.Unmarshal([]byte(out), &shown) != nil || shown.Model != hostileText {
		t.Errorf("the JSON says the model %q, want %q", shown.Model, hostileText)
	}
}

// The same holds for the output of exec and plain mode while a model works: its answer, the names and arguments of its
// calls, and their results.
func TestNoAnswerPrintsControlCharacters(t *testing.T) {
	arguments, err := json.Marshal(map[string]string{"path": "hostile.txt", "why": hostileText})
	if err != nil {
		t.Fatal(err)
	}
	command, err := json.Marshal(map[string]string{"command": "echo " + hostileText, "why": hostileText})
	if err != nil {
		t.Fatal(err)
	}
	answers := []modeltest.Answer{
		{modeltest.Text(hostileText), modeltest.Call{ID: "a", Name: hostileText, Arguments: string(arguments)}},
		{modeltest.Call{ID: "b", Name: "read_file", Arguments: string(arguments)}},
		{modeltest.Call{ID: "c", Name: "run_shell", Arguments: string(command)}},
		{modeltest.Text(hostileText)},
	}
	for _, args := range [][]string{{"exec", "go"}, {"exec", "--json", "go"}, {"exec", "--quiet", "go"}, {"--plain"}} {
		h := newHostileHome(t, modeltest.Steps(answers...))
		out, err := h.buddy("go\n", args...)
		if r, bad := obeyed(out + err); bad {
			t.Errorf("buddy %q prints %U:\n%q\n%q", args, r, out, err)
		}
		if !strings.Contains(out, "evil") || !strings.Contains(out, "over") {
			t.Errorf("buddy %q does not print the answer:\n%s\n%s", args, out, err)
		}
		if args[0] == "exec" && len(args) == 2 && !strings.Contains(err, "▶ evil") {
			t.Errorf("buddy %q does not name the tool:\n%s", args, err)
		}
	}
	if _, bad := obeyed(hostileText); !bad {
		t.Error("the text that is fed is harmless")
	}
}
