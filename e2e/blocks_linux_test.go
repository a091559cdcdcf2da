package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// blockServer serves a small model: it returns texts one after the other, and reports the size of the model.
type blockServer struct {
	answers    []string
	parameters float64
	refuses    bool   // rejects requests with tools
	url        string // "" before the first run

	mu       sync.Mutex // guards the fields below
	requests []chat
	cut      int // answers that the client did not read to their end
}

// chat is a request to the server.
type chat struct {
	Tools    []json.RawMessage
	Messages []struct{ Role, Content string }
}

// last returns the content of the last message.
func (c chat) last() string { return c.Messages[len(c.Messages)-1].Content }

func (s *blockServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/v1/models"):
		_, _ = fmt.Fprintf(w, `{"object":"list","data":[{"id":"test","meta":{"n_params":%.0f,"n_ctx":32768}}]}`, s.parameters)
		return
	case !strings.HasSuffix(r.URL.Path, "/chat/completions"):
		http.NotFound(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	var c chat
	_ = json.Unmarshal(body, &c)
	s.mu.Lock()
	s.requests = append(s.requests, c)
	if s.refuses && len(c.Tools) > 0 {
		s.mu.Unlock()
		refuses(w, http.StatusBadRequest, `{"error":{"message":"registry.ollama.ai/library/gemma3:4b does not support tools","type":"api_error"}}`)
		return
	}
	answer := s.answers[0]
	s.answers = s.answers[1:]
	s.mu.Unlock()
	text, endless := strings.CutSuffix(answer, "…")
	if !endless {
		streams(w, text, `{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":%q}}]}\n\n", text)
	w.(http.Flusher).Flush()
	<-r.Context().Done() // the answer would never end
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut++
}

// run runs buddy in a folder, with an additional line in the model's profile, and returns its output and exit code.
func (s *blockServer) run(t *testing.T, dir, profile string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	if s.url == "" {
		srv := httptest.NewServer(s)
		t.Cleanup(srv.Close)
		s.url = srv.URL
	}
	home := filepath.Join(filepath.Dir(dir), "home")
	file := filepath.Join(home, "buddy.toml")
	conf := "[models.test]\napi_base_url = \"" + s.url + "/v1\"\napi = \"completions\"\napi_key = \"\"\nmodel = \"test\"\n" + profile
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "buddy", append([]string{"exec", "--config", file}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config", "XDG_STATE_HOME="+home+"/.state", "XDG_RUNTIME_DIR="+home, "BUDDY_TMUX_SOCKET="+home+"/tmux", "TMUX=")
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		code = cmd.ProcessState.ExitCode()
	}
	return out.String(), errs.String(), code
}

// folderWith creates a folder with files.
func folderWith(t *testing.T, files map[string]string) string {
	t.Helper()
	root, err := os.MkdirTemp("", "b") // short, because of sockets' paths
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	dir := filepath.Join(root, "work")
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func needTmux(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("no tmux")
	}
}

// TestBlocks: a small model is addressed in blocks, and gets the folder, the files that the prompt names, and the
// changes by its commands. The answer is cut after the block.
func TestBlocks(t *testing.T) {
	needTmux(t)
	dir := folderWith(t, map[string]string{
		"config.ini": "[server]\nport = 8080\n", "docs/note.md": "Read **me**.\n", "id_rsa": "PRIVATE\n", "AGENTS.md": "Use tabs.\n", "other.txt": "untold\n",
	})
	s := &blockServer{parameters: 1.5e9, answers: []string{
		"I change it.\n```sh\nsed -i s/8080/9090/ config.ini\n```\nIt printed…", "docs/note.md\n```\nRead me.\n```\n…", "The port is 9090.",
	}}
	out, errs, code := s.run(t, dir, "", "--approve", "all", "Change the port in config.ini, see note.md and id_rsa")
	if code != 0 || strings.TrimSpace(out) != "The port is 9090." {
		t.Errorf("exit %d, printed %q, and said %s", code, out, errs)
	}
	if want := `because it has 1.5 billion parameters; calls = "native" in [models.test] changes that`; strings.Count(errs, want) != 1 {
		t.Errorf("it did not say once %q:\n%s", want, errs)
	}
	if len(s.requests) != 3 || s.cut != 2 {
		t.Fatalf("%d requests, %d answers were cut", len(s.requests), s.cut)
	}
	first := s.requests[0]
	if len(first.Tools) > 0 || len(first.Messages) != 2 || !strings.Contains(first.Messages[0].Content, "```sh") || !strings.Contains(first.last(), "Use tabs.") || strings.Contains(first.last(), "stranger") {
		t.Errorf("the first request is %+v", first)
	}
	for _, want := range []string{"Files in the folder: AGENTS.md, config.ini, docs/note.md, id_rsa, other.txt.", "config.ini:\n```\n[server]\nport = 8080\n```", "docs/note.md:\n```\nRead **me**.\n```", "see note.md and id_rsa"} {
		if !strings.Contains(first.last(), want) {
			t.Errorf("the first message lacks %q:\n%s", want, first.last())
		}
	}
	for _, secret := range []string{"PRIVATE", "untold", dir + "."} { // the folder's own name only misleads
		if strings.Contains(first.last(), secret) {
			t.Errorf("the first message has %q", secret)
		}
	}
	if !strings.HasSuffix(first.last(), "see note.md and id_rsa") {
		t.Errorf("the words of the person are not the last:\n%s", first.last())
	}
	if got := s.requests[1].last(); !strings.Contains(got, "[what changed]\nconfig.ini changed:\n-port = 8080\n+port = 9090") {
		t.Errorf("the result is\n%s", got)
	}
	if got := s.requests[2].last(); !strings.Contains(got, "docs/note.md changed:\n-Read **me**.\n+Read me.") {
		t.Errorf("the second result is\n%s", got)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "docs/note.md")); string(got) != "Read me.\n" {
		t.Errorf("the file has %q", got)
	}
	// The session continues with tool calls, and then with blocks again.
	s.answers, s.requests = []string{"Hello."}, nil
	if _, errs, code := s.run(t, dir, "calls = \"native\"\n", "--resume", "last", "Hello"); code != 0 || len(s.requests[0].Tools) == 0 || strings.Contains(s.requests[0].Messages[0].Content, "one block and nothing else") {
		t.Errorf("native: exit %d, %s, %+v", code, errs, s.requests)
	}
	s.answers, s.requests = []string{"Hello again."}, nil
	if _, errs, code := s.run(t, dir, "", "--resume", "last", "Hello"); code != 0 || len(s.requests[0].Tools) > 0 || !strings.Contains(s.requests[0].Messages[2].Content, "```sh\nsed -i s/8080/9090/ config.ini\n```") {
		t.Errorf("in blocks again: exit %d, %s, %+v", code, errs, s.requests)
	}
}

// TestToolsRefused: if a server rejects tools for a model, the same prompt is answered in blocks; calls = "native"
// prevents that.
func TestToolsRefused(t *testing.T) {
	needTmux(t)
	dir := folderWith(t, map[string]string{"a.txt": "x\n"})
	s := &blockServer{parameters: 12e9, refuses: true, answers: []string{"```sh\ntouch made\n```\n…", "It is made.", "Yes."}}
	out, errs, code := s.run(t, dir, "", "--approve", "all", "Make the file made")
	if _, err := os.Stat(filepath.Join(dir, "made")); err != nil || code != 0 || strings.TrimSpace(out) != "It is made." || !strings.Contains(errs, `calls = "native" in [models.test]`) {
		t.Errorf("exit %d, printed %q, said %s; %v", code, out, errs, err)
	}
	if n := len(s.requests); n < 3 || len(s.requests[n-2].Tools) > 0 || len(s.requests[n-1].Tools) > 0 {
		t.Errorf("%d requests: %+v", n, s.requests)
	}
	s.requests = nil
	if _, _, code := s.run(t, dir, "", "--resume", "last", "Is it there?"); code != 0 || len(s.requests) != 1 || len(s.requests[0].Tools) > 0 {
		t.Errorf("resumed: exit %d, %d requests", code, len(s.requests))
	}
	s.requests = nil
	if _, errs, code := s.run(t, dir, "calls = \"native\"\n", "Make the file made"); code == 0 || !strings.Contains(errs, "does not support tools") {
		t.Errorf("native: exit %d, %s", code, errs)
	}
}

// TestBlocksAreJudged: actions in a block need the same approval as calls: nothing outside the folder is written
// without approval, and commands ask. With approval the file is written, so the names reach the tool unchanged.
func TestBlocksAreJudged(t *testing.T) {
	needTmux(t)
	for name, tt := range map[string]struct{ block, made string }{
		"above the folder": {"../made.txt\n```\nx\n```", "../made.txt"},
		"a command":        {"```sh\ntouch made.txt\n```", "made.txt"},
		"git's hooks":      {".git/hooks/made.sh\n```\nx\n```", ".git/hooks/made.sh"},
	} {
		for _, mode := range []string{"ask", "all"} {
			dir := folderWith(t, map[string]string{"a.txt": "x\n"})
			s := &blockServer{parameters: 1e9, answers: []string{tt.block, "Done.", "Done.", "Done."}}
			_, errs, _ := s.run(t, dir, "", "--approve", mode, "Go on")
			_, err := os.Stat(filepath.Join(dir, tt.made))
			if made := err == nil; made != (mode == "all") {
				t.Errorf("%s, mode %s: made %v\n%s", name, mode, made, errs)
			}
		}
	}
}
