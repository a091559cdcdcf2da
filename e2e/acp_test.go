package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"buddy/agent/model/modeltest"
)

// acpFolder returns the folder with the clients of other programs, which make counterparts ONLY=acp installs.
func acpFolder(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("BUDDY_ACP")
	if dir == "" {
		t.Skip("make counterparts ONLY=acp runs this")
	}
	return dir
}

// acpRun runs a program with a home of its own.
func acpRun(t *testing.T, home, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config", "XDG_STATE_HOME="+home+"/.local/state", "XDG_RUNTIME_DIR="+home,
		"BUDDY_TMUX_SOCKET="+home+"/tmux", "TMUX=", "BUDDY_LOCAL_SERVERS=off", "BUDDY_API_KEY=k")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// acpHome makes a home, short because the paths of sockets are limited, and a folder in it to work in.
func acpHome(t *testing.T) (home, work string) {
	t.Helper()
	home, err := os.MkdirTemp("", "b")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", home+"/tmux", "kill-server").Run() // if it was started
		_ = os.RemoveAll(home)
	})
	work = filepath.Join(home, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	return home, work
}

// The client of the protocol's SDK does a whole task, and everything that buddy sends fits the published schema.
func TestEditorOfTheSDK(t *testing.T) {
	dir := acpFolder(t)
	s := modeltest.Start(t, func(r modeltest.Request) modeltest.Answer {
		last := r.Messages[len(r.Messages)-1]
		steps := map[string]modeltest.Answer{
			"q": {modeltest.Call{ID: "p", Name: "todo", Arguments: `{"items":[{"text":"edit","state":"in_progress"},{"text":"run","state":"pending"}]}`}},
			"p": {modeltest.Text("Now the file."), modeltest.Call{ID: "w", Name: "write_file", Arguments: `{"path":"a.txt","content":"hi\n"}`}},
			"w": {modeltest.Call{ID: "d", Name: "run_shell", Arguments: `{"command":"touch denied"}`}},
			"d": {modeltest.Call{ID: "r", Name: "run_shell", Arguments: `{"command":"ls"}`}},
			"r": {modeltest.Text("All done.")},
		}
		switch prompt := promptIn(last.Content); {
		case last.ToolCallID != "":
			for id, answer := range steps {
				if strings.HasPrefix(last.ToolCallID, id) {
					return answer
				}
			}
		case strings.Contains(prompt, "do it"):
			return modeltest.Answer{modeltest.Reasoning{Text: "Which colour?"}, modeltest.Text("A question first."), modeltest.Call{ID: "q", Name: "ask_user", Arguments: `{"question":"Which?","choices":["red","blue"]}`}}
		case strings.Contains(prompt, "wait"):
			return modeltest.Answer{modeltest.Call{ID: "z", Name: "run_shell", Arguments: `{"command":"sleep 60; touch slept"}`}}
		}
		return modeltest.Answer{modeltest.Text("A title")}
	})
	home, work := acpHome(t)
	lines, settings := filepath.Join(home, "lines"), filepath.Join(home, ".config", "buddy")
	if err := os.MkdirAll(settings, 0o700); err != nil {
		t.Fatal(err)
	}
	profile := "[models.scripted]\napi_base_url = \"" + s.URL + "\"\nmodel = \"m\"\ncontext_limit = 32000\n"
	if err := os.WriteFile(filepath.Join(settings, "buddy.toml"), []byte(profile), 0o600); err != nil {
		t.Fatal(err)
	}
	out := acpRun(t, home, work, dir+"/node_modules/.bin/node", dir+"/client.mjs", os.Getenv("BUDDY_PROGRAM"), work, lines)
	t.Log(out)
	checkLines(t, dir, lines)
	_, id, _ := strings.Cut(out, "session ")
	if all := acpRun(t, home, work, os.Getenv("BUDDY_PROGRAM"), "sessions", "show", strings.TrimSpace(id)); !strings.Contains(all, "do it") {
		t.Errorf("the session can't be read: %s", all)
	}
}

// Another client, made for the command line, runs a prompt.
func TestEditorOfACPX(t *testing.T) {
	dir := acpFolder(t)
	home, work := acpHome(t)
	agent := os.Getenv("BUDDY_PROGRAM") + " acp --model demo"
	out := acpRun(t, home, work, dir+"/node_modules/.bin/node", dir+"/node_modules/acpx/dist/cli.js", "--agent", agent, "--cwd", work, "--approve-all", "exec", "write hello to a.txt")
	t.Log(out)
	if data, err := os.ReadFile(filepath.Join(work, "a.txt")); !bytes.Contains(data, []byte("hello")) {
		t.Errorf("the file has %q, %v", data, err)
	}
}

// checkLines checks each message of a recording against the protocol's schema: requests and notifications by their
// methods, results by the methods of their requests' order.
func checkLines(t *testing.T, dir, name string) {
	t.Helper()
	text, err := os.ReadFile(dir + "/node_modules/@agentclientprotocol/sdk/schema/v1/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]string{"session/update": "SessionNotification", "session/request_permission": "RequestPermissionRequest", "elicitation/create": "CreateElicitationRequest", "$/cancel_request": "CancelRequestNotification"}
	schemas := map[string]*jsonschema.Resolved{}
	of := func(name string) *jsonschema.Resolved {
		if schemas[name] == nil {
			var s jsonschema.Schema
			if err := json.Unmarshal(text, &s); err != nil {
				t.Fatal(err)
			}
			s.AnyOf, s.Ref = nil, "#/$defs/"+name
			if schemas[name], err = s.Resolve(nil); err != nil {
				t.Fatal(err)
			}
		}
		return schemas[name]
	}
	// A wrong message must fail, or the check proves nothing.
	if of("SessionNotification").Validate(map[string]any{"sessionId": "x", "update": map[string]any{"sessionUpdate": "plan"}}) == nil {
		t.Error("a plan without entries fits the schema")
	}
	results := []string{"InitializeResponse", "NewSessionResponse", "PromptResponse", "PromptResponse", "PromptResponse", "SetSessionModeResponse", "SetSessionConfigOptionResponse", "ListSessionsResponse", "CloseSessionResponse", "LoadSessionResponse", "CloseSessionResponse"}
	n := 0
	for line := range strings.Lines(string(data)) {
		var m struct {
			Method         string
			Params, Result any
			Error          any
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("a line that is no message: %s", line)
		}
		kind, value := types[m.Method], m.Params
		if m.Method == "" {
			if m.Error != nil || n >= len(results) {
				t.Fatalf("unexpected answer %s", line)
			}
			kind, value = results[n], m.Result
			n++
		}
		if kind == "" {
			t.Errorf("unknown method %q", m.Method)
		} else if err := of(kind).Validate(value); err != nil {
			t.Errorf("%s: %v\n%s", kind, err, line)
		}
	}
	if n != len(results) {
		t.Errorf("%d answers, want %d", n, len(results))
	}
}
