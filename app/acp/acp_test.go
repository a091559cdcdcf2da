package acp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/adrg/xdg"

	"buddy/agent/event"
	"buddy/agent/model/modeltest"
	"buddy/app/apptest"
	"buddy/app/client"
	"buddy/app/compose"
	"buddy/app/host"
	"buddy/sessions"
	"buddy/tmux/pane"
)

// TestMain makes the test program act as the host of a session, and as the supervisor of its panes.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "pane" {
		os.Exit(pane.Main(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "host" {
		os.Exit(host.Main())
	}
	if len(os.Args) > 1 && os.Args[1] == "mcp" {
		helper()
		return
	}
	os.Exit(m.Run())
}

const limit = 20 * time.Second

// home makes a home folder and a folder to work in, which it returns.
func home(t *testing.T) string {
	t.Helper()
	apptest.Home(t)
	run, err := os.MkdirTemp("", "b") // short, because the path of a socket is limited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(run) })
	tmux := filepath.Join(run, "tmux")
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", tmux, "kill-server").Run() }) // if it was started
	t.Setenv("BUDDY_TMUX_SOCKET", tmux)
	t.Setenv("TMUX", "")
	t.Setenv("TMUX_TMPDIR", run)
	t.Setenv("XDG_RUNTIME_DIR", run)
	xdg.Reload()
	t.Cleanup(xdg.Reload)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// editor is an editor that records its updates.
type editor struct {
	t    *testing.T
	conn *conn
	in   io.Closer
	done chan struct{} // closed when the server has returned

	mu      sync.Mutex
	updates []map[string]any
	asked   []string                        // methods of requests
	respond func(method, params string) any // answers requests; nil leaves them open
	seen    map[string]chan struct{}        // by text: closed when an update contains it
	raw     []json.RawMessage               // parameters of requests
}

func connect(t *testing.T, options *compose.Options) *editor {
	t.Helper()
	toServer, fromEditor := io.Pipe()
	toEditor, fromServer := io.Pipe()
	e := &editor{t: t, conn: newConn(fromEditor), in: fromEditor, done: make(chan struct{}), seen: make(map[string]chan struct{})}
	go func() { Serve(toServer, fromServer, options); _ = fromServer.Close(); close(e.done) }()
	go func() { e.conn.serve(toEditor, e); e.conn.cancel() }()
	t.Cleanup(e.close)
	e.must("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{"elicitation": map[string]any{"form": map[string]any{}}}})
	return e
}

func (e *editor) close() {
	_ = e.in.Close()
	select {
	case <-e.done:
	case <-time.After(limit):
		e.t.Error("the server did not end with its editor")
	}
}

func (e *editor) request(method string, params json.RawMessage, answer reply) {
	e.mu.Lock()
	e.asked, e.raw = append(e.asked, method), append(e.raw, params)
	respond := e.respond
	e.mu.Unlock()
	if respond == nil {
		return
	}
	if result := respond(method, string(params)); result != nil {
		answer(result, nil)
	}
}

func (e *editor) notify(method string, params json.RawMessage) {
	var got struct {
		Update map[string]any `json:"update"`
	}
	_ = json.Unmarshal(params, &got)
	e.mu.Lock()
	defer e.mu.Unlock()
	if method != "session/update" {
		got.Update = map[string]any{"sessionUpdate": method}
	}
	e.updates = append(e.updates, got.Update)
	for text, seen := range e.seen {
		if strings.Contains(string(params), text) {
			close(seen)
			delete(e.seen, text)
		}
	}
}

// expect returns a function that waits for an update with a text.
func (e *editor) expect(text string) (wait func()) {
	e.t.Helper()
	seen := make(chan struct{})
	e.mu.Lock()
	e.seen[text] = seen
	e.mu.Unlock()
	return func() {
		e.t.Helper()
		select {
		case <-seen:
		case <-time.After(limit):
			e.t.Fatalf("no update with %q", text)
		}
	}
}

// call makes a request.
func (e *editor) call(method string, params any) (map[string]any, error) {
	ctx, cancel := context.WithTimeout(e.t.Context(), limit)
	defer cancel()
	var result map[string]any
	err := e.conn.ask(ctx, method, params, &result)
	return result, err
}

func (e *editor) must(method string, params any) map[string]any {
	e.t.Helper()
	result, err := e.call(method, params)
	if err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
	return result
}

// begin starts a session in a folder.
func (e *editor) begin(dir string) (id string) {
	e.t.Helper()
	id, _ = e.must("session/new", map[string]any{"cwd": dir, "mcpServers": []any{}})["sessionId"].(string)
	return id
}

// prompt sends a prompt and returns its stop reason.
func (e *editor) prompt(id string, blocks ...map[string]any) string {
	e.t.Helper()
	reason, _ := e.must("session/prompt", map[string]any{"sessionId": id, "prompt": blocks})["stopReason"].(string)
	return reason
}

func textOf(text string) map[string]any { return map[string]any{"type": "text", "text": text} }

// texts returns the joined texts of all updates of a kind.
func (e *editor) texts(kind string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var b strings.Builder
	for _, u := range e.updates {
		if content, ok := u["content"].(map[string]any); ok && u["sessionUpdate"] == kind {
			text, _ := content["text"].(string)
			b.WriteString(text)
		}
	}
	return b.String()
}

// forget drops the updates so far.
func (e *editor) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.updates = nil
}

// of returns the updates of a kind as JSON.
func (e *editor) of(kind string) (all []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, u := range e.updates {
		if u["sessionUpdate"] == kind {
			text, _ := json.Marshal(u)
			all = append(all, string(text))
		}
	}
	return all
}

func allow(option string) any {
	return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": option}}
}

// scripted returns options for a model that plays a script.
func scripted(t *testing.T, answers ...modeltest.Answer) *compose.Options {
	t.Helper()
	s := modeltest.Start(t, modeltest.Steps(answers...))
	t.Setenv("BUDDY_API_KEY", "k")
	return &compose.Options{BaseURL: s.URL, Model: "m"}
}

// A whole exchange: thoughts, text, a plan, an edit with its diff, a command that is denied with a reason, and usage.
func TestWholeExchange(t *testing.T) {
	dir := home(t)
	options := scripted(t,
		modeltest.Answer{modeltest.Reasoning{Text: "hm"}, modeltest.Text("First."), modeltest.Call{ID: "a", Name: "todo", Arguments: `{"items":[{"text":"edit","state":"in_progress"}]}`}},
		modeltest.Answer{modeltest.Text("Now the file."), modeltest.Call{ID: "b", Name: "write_file", Arguments: `{"path":"a.txt","content":"hi\n"}`}},
		modeltest.Answer{modeltest.Call{ID: "c", Name: "run_shell", Arguments: `{"command":"touch b"}`}},
		modeltest.Answer{modeltest.Text("Done.")},
		modeltest.Answer{modeltest.Text("A title")},
	)
	e := connect(t, options)
	var names []string
	e.respond = func(method, params string) any {
		switch {
		case method == "elicitation/create":
			return map[string]any{"action": "accept", "content": map[string]any{"answer": "not here"}}
		case strings.Contains(params, "touch"):
			names = append(names, params)
			return allow(denyWhy)
		}
		return allow(string(event.Once))
	}
	id := e.begin(dir)
	if reason := e.prompt(id, textOf("go")); reason != "end_turn" {
		t.Errorf("stopped with %q", reason)
	}
	if got := e.texts("agent_message_chunk"); got != "First.Now the file.Done." {
		t.Errorf("text %q", got)
	}
	if got := e.texts("agent_thought_chunk"); !strings.Contains(got, "hm") {
		t.Errorf("thoughts %q", got)
	}
	if got := e.of("plan"); len(got) == 0 || !strings.Contains(got[0], `"content":"edit"`) || !strings.Contains(got[0], `"status":"in_progress"`) {
		t.Errorf("plan %q", got)
	}
	if got := strings.Join(e.of("tool_call"), "\n"); strings.Count(got, "toolCallId") != 2 || !strings.Contains(got, `"newText":"hi\n"`) || !strings.Contains(got, dir+"/a.txt") {
		t.Errorf("calls %s", got)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "a.txt")); string(data) != "hi\n" {
		t.Errorf("the file has %q, %v", data, err)
	}
	if len(names) != 1 || !strings.Contains(names[0], "touch") || !strings.Contains(names[0], `"allow_always"`) {
		t.Errorf("asked %q", names)
	}
	if got := strings.Join(e.of("tool_call_update"), "\n"); !strings.Contains(got, "not here") {
		t.Errorf("the model did not get the reason: %s", got)
	}
	ids := map[string]bool{}
	e.mu.Lock()
	for _, u := range e.updates {
		if u["sessionUpdate"] == "agent_message_chunk" {
			ids[fmt.Sprint(u["messageId"])] = true
		}
	}
	e.mu.Unlock()
	if len(ids) != 3 {
		t.Errorf("the three messages have the ids %v", ids)
	}
}

// A question of the model is a form with its choices.
func TestQuestion(t *testing.T) {
	dir := home(t)
	options := scripted(t,
		modeltest.Answer{modeltest.Call{ID: "q", Name: "ask_user", Arguments: `{"question":"which?","choices":["red","blue"]}`}},
		modeltest.Answer{modeltest.Text("ok")}, modeltest.Answer{modeltest.Text("title")},
	)
	e := connect(t, options)
	e.respond = func(method, params string) any {
		if method != "elicitation/create" || !strings.Contains(params, "blue") {
			t.Errorf("asked %s %s", method, params)
		}
		return map[string]any{"action": "accept", "content": map[string]any{"answer": "blue"}}
	}
	id := e.begin(dir)
	if reason := e.prompt(id, textOf("go")); reason != "end_turn" {
		t.Errorf("stopped with %q", reason)
	}
	if got := strings.Join(e.of("tool_call_update"), ""); !strings.Contains(got, "blue") {
		t.Errorf("the model got %s", got)
	}
}

// A cancelled prompt stops its command; the next prompt works. Loading repeats the conversation, resuming doesn't.
func TestCancelLoadResume(t *testing.T) {
	dir := home(t)
	e := connect(t, &compose.Options{Model: "demo"})
	id := e.begin(dir)
	e.respond = func(string, string) any {
		e.conn.notify("session/cancel", map[string]any{"sessionId": id})
		return map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}
	}
	if reason := e.prompt(id, textOf("run touch b")); reason != "cancelled" {
		t.Errorf("stopped with %q", reason)
	}
	e.respond = func(string, string) any { return allow(string(event.Once)) }
	if reason := e.prompt(id, textOf("write one to a.txt")); reason != "end_turn" {
		t.Errorf("stopped with %q", reason)
	}
	live := e.texts("agent_message_chunk")
	e.must("session/close", map[string]any{"sessionId": id})
	if _, err := e.call("session/prompt", map[string]any{"sessionId": id, "prompt": []any{textOf("x")}}); err == nil {
		t.Error("a closed session accepts prompts")
	}
	e.forget()
	e.must("session/load", map[string]any{"sessionId": id, "cwd": dir, "mcpServers": []any{}})
	if got := e.texts("agent_message_chunk"); got != live {
		t.Errorf("repeated %q, want %q", got, live)
	}
	if got := e.texts("user_message_chunk"); got != "run touch bwrite one to a.txt" {
		t.Errorf("repeated prompts %q", got)
	}
	e.must("session/close", map[string]any{"sessionId": id})
	e.forget()
	e.must("session/resume", map[string]any{"sessionId": id, "cwd": dir, "mcpServers": []any{}})
	if got := e.texts("agent_message_chunk") + e.texts("user_message_chunk"); got != "" {
		t.Errorf("resuming repeated %q", got)
	}
	if reason := e.prompt(id, textOf("explain yourself")); reason != "end_turn" {
		t.Errorf("stopped with %q", reason)
	}
	for range 2 {
		e.must("session/delete", map[string]any{"sessionId": id})
	}
	if got, _ := e.must("session/list", map[string]any{"cwd": dir})["sessions"].([]any); len(got) != 0 {
		t.Errorf("after deleting: %v", got)
	}
}

// An approval that the editor leaves open is answered elsewhere: the editor's question is withdrawn, and its session
// continues. The session also outlives its editor.
func TestAnswerElsewhere(t *testing.T) {
	dir := home(t)
	withoutTerminal(t)
	e := connect(t, &compose.Options{Model: "demo"})
	id := e.begin(dir)
	withdrawn := e.expect(`"requestId"`)
	other := join(t, dir, id)
	done := make(chan string)
	go func() { done <- e.prompt(id, textOf("run touch b")) }()
	other.answer(event.Once)
	withdrawn()
	if reason := <-done; reason != "end_turn" {
		t.Errorf("stopped with %q", reason)
	}
	waits := e.expect("touch c")
	go func() {
		_, _ = e.call("session/prompt", map[string]any{"sessionId": id, "prompt": []any{textOf("run touch c")}})
	}()
	waits()
	e.close() // the editor dies while an approval waits
	other.answer(event.Deny)
	if by := other.answered[len(other.answered)-1]; !strings.Contains(by.Screen, "process") {
		t.Errorf("answered on %q", by.Screen)
	}
}

// withoutTerminal lets screens without a terminal do everything: tests have none.
func withoutTerminal(t *testing.T) {
	t.Helper()
	dir := filepath.Join(os.Getenv("HOME"), ".config", "buddy")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "buddy.toml"), []byte("[host]\nwithout_terminal = true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// An editor without a terminal may only watch a session that it did not start, and says so.
func TestWatching(t *testing.T) {
	dir := home(t)
	owner := connect(t, &compose.Options{Model: "demo"})
	id := owner.begin(dir)
	owner.prompt(id, textOf("explain yourself"))
	e := connect(t, &compose.Options{Model: "demo"})
	e.respond = func(method, _ string) any { t.Errorf("asked %s", method); return nil }
	said := e.expect("can only watch and stop")
	e.must("session/load", map[string]any{"sessionId": id, "cwd": dir, "mcpServers": []any{}})
	said()
	refused := e.expect("without_terminal = true")
	if reason := e.prompt(id, textOf("write one to a.txt")); reason != "refusal" {
		t.Errorf("stopped with %q", reason)
	}
	refused()
	if _, err := e.call("session/set_mode", map[string]any{"sessionId": id, "modeId": "all"}); err == nil {
		t.Error("the mode was changed")
	}
	watched := e.expect("write two")
	owner.respond = func(string, string) any { return allow(string(event.Once)) }
	owner.prompt(id, textOf("write two to b.txt"))
	watched()
	if _, err := os.Stat(filepath.Join(dir, "a.txt")); err == nil {
		t.Error("the prompt of the watching editor ran")
	}
	e.close()
	owner.must("session/load", map[string]any{"sessionId": id, "cwd": dir, "mcpServers": []any{}})
	if reason := owner.prompt(id, textOf("explain yourself")); reason != "end_turn" {
		t.Errorf("an editor that loads its own running session again is stopped with %q", reason)
	}
	owner.close()
	nothingRuns(t, dir)
}

// screen is another screen of a session.
type screen struct {
	t        *testing.T
	process  *host.Process
	batches  <-chan []event.Envelope
	answered []event.ApprovalAnswered
}

func join(t *testing.T, dir, id string) *screen {
	t.Helper()
	t.Chdir(dir)
	setup, err := compose.NewSetup(&compose.Options{Model: "demo"}, "local", "")
	if err != nil {
		t.Fatal(err)
	}
	setup.ID = id
	p, err := host.Start(&compose.Options{Model: "demo", Session: id}, setup.Store, true, false)
	if err != nil || !p.Joined {
		t.Fatal(p, err)
	}
	following, stop := context.WithCancel(context.Background()) // t.Context ends before the request to close
	batches, err := p.Subscribe(following, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		go func() {
			for range batches { //nolint:revive // the reply comes after them
			}
		}()
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if _, err := client.Ask[client.CloseReply](ctx, p, client.Close{Kill: true}); err != nil {
			t.Logf("close: %v", err) // the session may have ended
		}
		stop()
		p.Leave()
		for ctx.Err() == nil && host.Runs(setup.Store, id) { // it still writes to the home folder
			time.Sleep(5 * time.Millisecond)
		}
	})
	return &screen{t: t, process: p, batches: batches}
}

// answer answers the next approval and waits for its end.
func (s *screen) answer(d event.Decision) {
	s.t.Helper()
	s.until(func(e event.Event) {
		switch p := e.(type) {
		case event.ApprovalAsked:
			s.process.Send(event.AnswerApproval{ID: p.ID, Decision: d})
		case event.ApprovalAnswered:
			s.answered = append(s.answered, p)
		}
	})
}

// until passes events to handle up to the end of a task, which it returns.
func (s *screen) until(handle func(event.Event)) event.TaskFinished {
	s.t.Helper()
	late := time.After(limit)
	for {
		select {
		case batch, open := <-s.batches:
			if !open {
				s.t.Fatal("the session has ended")
			}
			for _, env := range batch {
				handle(env.Payload)
				if p, ended := env.Payload.(event.TaskFinished); ended {
					return p
				}
			}
		case <-late:
			s.t.Fatal("the task does not end")
		}
	}
}

// Answers of an editor name it, and its prompts show on the other screen.
func TestAnswersNameTheEditor(t *testing.T) {
	dir := home(t)
	e := connect(t, &compose.Options{Model: "demo"})
	e.respond = func(string, string) any { return allow(string(event.Once)) }
	id := e.begin(dir)
	e.prompt(id, textOf("write one to a.txt"))
	text, err := os.ReadFile(fileOfSession(t, id))
	if err != nil || !strings.Contains(string(text), "editor over ACP") {
		t.Errorf("the session does not name the editor: %v", err)
	}
}

// fileOfSession returns the file of a session.
func fileOfSession(t *testing.T, id string) string {
	t.Helper()
	s, err := sessions.Folders()
	if err != nil || len(s) != 1 {
		t.Fatal(s, err)
	}
	return s[0].File(id)
}

// Pictures and files reach the model; what can't be read is named.
func TestPromptBlocks(t *testing.T) {
	dir := home(t)
	if err := os.WriteFile(filepath.Join(dir, "note.txt"), []byte("remember the milk"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := modeltest.Start(t, modeltest.Steps(modeltest.Answer{modeltest.Text("ok")}, modeltest.Answer{modeltest.Text("title")}))
	t.Setenv("BUDDY_API_KEY", "k")
	e := connect(t, &compose.Options{BaseURL: s.URL, Model: "m"})
	id := e.begin(dir)
	picture := base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\nIDATx\x9cc\x00\x01\x00\x00\x05\x00\x01\r\n-\xb4\x00\x00\x00\x00IEND\xaeB`\x82"))
	e.prompt(id, textOf("look at "),
		map[string]any{"type": "resource_link", "uri": "file://" + dir + "/note.txt#L1:2", "name": "note.txt"},
		map[string]any{"type": "resource_link", "uri": "https://example.com/x", "name": "a page"},
		map[string]any{"type": "resource", "resource": map[string]any{"uri": "file://" + dir + "/unsaved.go#L3:4", "text": "package unsaved // ```\nvar key = \"ghp_0123456789abcdefghijABCDEFGHIJ012345\""}},
		map[string]any{"type": "resource", "resource": map[string]any{"uri": "file://" + dir + "/.env#L1:1", "text": "PASSWORD=opensesame"}},
		map[string]any{"type": "image", "mimeType": "image/png", "data": picture})
	body := string(s.Requests()[0].Body)
	for _, want := range []string{"remember the milk", "a page at https://example.com/x, which was not read", "package unsaved", "sent this text of unsaved.go (lines 3 to 4) with the prompt", "@note.txt (lines 1 to 2)", picture[:20]} {
		if !strings.Contains(body, want) {
			t.Errorf("the request has no %q", want)
		}
	}
	if strings.Contains(body, "ghp_0123") || strings.Contains(body, "opensesame") || !strings.Contains(body, ".env (line 1), which was not sent") {
		t.Error("secrets of the editor's files reach the model")
	}
	stored, err := os.ReadFile(fileOfSession(t, id))
	if err != nil || strings.Contains(string(stored), "ghp_0123") || strings.Contains(string(stored), "opensesame") {
		t.Errorf("secrets of the editor's files are in the session: %v", err)
	}
	if !strings.Contains(string(stored), `"text":"look at @note.txt (lines 1 to 2) [a page at https://example.com/x, which was not read] unsaved.go (lines 3 to 4) [.env`) {
		t.Errorf("the prompt holds more than names: %s", stored)
	}
	for name, bad := range map[string]map[string]any{
		"empty":     textOf(" "),
		"audio":     {"type": "audio", "data": "", "mimeType": "audio/wav"},
		"no base64": {"type": "image", "data": "***", "mimeType": "image/png"},
		"no image":  {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"},
		"nothing":   {"type": "resource"},
	} {
		if _, err := e.call("session/prompt", map[string]any{"sessionId": id, "prompt": []any{bad}}); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// A text that the model has already is not sent again, and what is too much is named.
func TestTextsOfEditor(t *testing.T) {
	dir := home(t)
	s := modeltest.Start(t, modeltest.Steps(modeltest.Answer{modeltest.Text("ok")}, modeltest.Answer{modeltest.Text("title")}, modeltest.Answer{modeltest.Text("ok")}, modeltest.Answer{modeltest.Text("ok")}))
	t.Setenv("BUDDY_API_KEY", "k")
	e := connect(t, &compose.Options{BaseURL: s.URL, Model: "m"})
	id := e.begin(dir)
	text := func(name, text string) map[string]any {
		return map[string]any{"type": "resource", "resource": map[string]any{"uri": "file://" + dir + "/" + name, "text": text}}
	}
	open := text("open.go", "package open // once\n")
	e.prompt(id, textOf("one "), open)
	e.prompt(id, textOf("two "), open)
	var many []map[string]any
	for i := range 9 {
		many = append(many, text(fmt.Sprintf("f%d.go", i+1), fmt.Sprintf("content %d\n", i+1)+strings.Repeat("x", i*8<<10)))
	}
	e.prompt(id, many...)
	all := s.Requests()
	last := string(all[len(all)-1].Body)
	if n := strings.Count(last, "package open // once"); n != 1 {
		t.Errorf("the open file was sent %d times", n)
	}
	if !strings.Contains(last, "content 8") || strings.Contains(last, "content 9") || strings.Count(last, "its end is missing") != 1 {
		t.Error("the limits of the texts have no effect")
	}
	if got := e.texts("agent_thought_chunk"); !strings.Contains(got, "f9.go and any texts after it are not attached: a prompt can have at most 8 texts") {
		t.Errorf("no notice about the limit: %q", got)
	}
}

// Modes and options stay in step, and a bad value changes nothing.
func TestModesAndOptions(t *testing.T) {
	dir := home(t)
	e := connect(t, &compose.Options{Model: "demo"})
	id := e.begin(dir)
	e.must("session/set_mode", map[string]any{"sessionId": id, "modeId": "plan"})
	got := e.must("session/set_config_option", map[string]any{"sessionId": id, "configId": "mode", "value": "edits"})
	if text, _ := json.Marshal(got); !strings.Contains(string(text), `"currentValue":"edits"`) {
		t.Errorf("options %s", text)
	}
	modes, options := e.of("current_mode_update"), e.of("config_option_update")
	if len(modes) != 2 || len(options) != 2 || !strings.Contains(modes[1], "edits") || !strings.Contains(options[0], `"currentValue":"plan"`) {
		t.Errorf("updates %v\n%v", modes, options)
	}
	for _, bad := range []map[string]any{{"configId": "mode", "value": "x"}, {"configId": "x", "value": "edits"}, {"configId": "model", "value": true}, {"configId": "model", "value": "nobody"}} {
		bad["sessionId"] = id
		if _, err := e.call("session/set_config_option", bad); err == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
}

// Commands are announced after the session is known, and their answers are messages.
func TestCommands(t *testing.T) {
	dir := home(t)
	e := connect(t, &compose.Options{Model: "demo"})
	wait := e.expect("available_commands_update")
	id := e.begin(dir)
	wait()
	for line, want := range map[string]string{"/status": dir, "/help": "/compact", "/nonsense": "Unknown command /nonsense", "/theme dark": "only on buddy's own screen", "/timeout x": "/timeout:"} {
		e.forget()
		if reason := e.prompt(id, textOf(line)); reason != "end_turn" || !strings.Contains(e.texts("agent_message_chunk"), want) {
			t.Errorf("%s: %s %q, want %q", line, reason, e.texts("agent_message_chunk"), want)
		}
	}
}

// Commands are announced again when a skill is added, after those of the start.
func TestNewSkill(t *testing.T) {
	dir := home(t)
	e := connectRaw(t, &compose.Options{Model: "demo"})
	e.send(strings.TrimSpace(hello))
	e.until(`"id":0`)
	e.send(newSessionIn(dir))
	if before := e.until("sessionId"); strings.Contains(strings.Join(before, ""), "available_commands_update") {
		t.Error("commands were announced before the session was known")
	}
	e.until("available_commands_update")
	skill := filepath.Join(dir, ".buddy", "skills", "greet")
	if err := os.MkdirAll(skill, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(skill, "SKILL.md"), []byte("---\nname: greet\ndescription: Greets people.\n---\nSay hello.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if all := e.until(`"name":"greet"`); !strings.Contains(all[len(all)-1], "available_commands_update") {
		t.Errorf("the skill is in %s", all[len(all)-1])
	}
	e.die()
}

// A long session is repeated in the same way each time, with everything that the editor saw while it ran.
func TestLoadLongSession(t *testing.T) {
	dir := home(t)
	var long strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&long, "line %d\n", i)
	}
	e := connect(t, scripted(t,
		modeltest.Answer{modeltest.Reasoning{Text: "hm"}, modeltest.Text(long.String()), modeltest.Call{ID: "a", Name: "todo", Arguments: `{"items":[{"text":"write","state":"in_progress"}]}`}},
		modeltest.Answer{modeltest.Call{ID: "b", Name: "write_file", Arguments: `{"path":"a.txt","content":"hi\n"}`}},
		modeltest.Answer{modeltest.Text("Done.")}, modeltest.Answer{modeltest.Text("A title")},
	))
	e.respond = func(string, string) any { return allow(string(event.Once)) }
	id := e.begin(dir)
	e.prompt(id, textOf("go"))
	live := map[string]string{"text": e.texts("agent_message_chunk"), "thoughts": e.texts("agent_thought_chunk"), "plan": strings.Join(e.of("plan"), ""), "calls": strings.Join(e.of("tool_call"), "")}
	var loaded [2][]string
	for i := range loaded {
		e.must("session/close", map[string]any{"sessionId": id})
		e.forget()
		e.must("session/load", map[string]any{"sessionId": id, "cwd": dir, "mcpServers": []any{}})
		for _, kind := range []string{"user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan", "usage_update"} {
			loaded[i] = append(loaded[i], e.of(kind)...)
		}
	}
	if !slices.Equal(loaded[0], loaded[1]) {
		t.Errorf("repeated as %d and %d updates that differ", len(loaded[0]), len(loaded[1]))
	}
	again := map[string]string{"text": e.texts("agent_message_chunk"), "thoughts": e.texts("agent_thought_chunk"), "plan": strings.Join(e.of("plan"), ""), "calls": strings.Join(e.of("tool_call"), "")}
	for what, want := range live {
		if again[what] != want || want == "" {
			t.Errorf("%s: repeated %d bytes, want %d: %s", what, len(again[what]), len(want), clip(again[what]))
		}
	}
}

// Nothing of a folder that nobody trusts runs, and the conversation says how to trust it.
func TestUntrustedFolder(t *testing.T) {
	dir := home(t)
	ran := filepath.Join(dir, "ran")
	if err := os.WriteFile(filepath.Join(dir, ".mcp.json"), []byte(`{"mcpServers":{"evil":{"command":"touch","args":["`+ran+`"]}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	e := connect(t, &compose.Options{Model: "demo"})
	said := e.expect("buddy trust")
	e.prompt(e.begin(dir), textOf("explain yourself"))
	said()
	if _, err := os.Lstat(ran); err == nil {
		t.Error("the project's server was started")
	}
}

// Two sessions work at the same time, each in its folder.
func TestTwoSessions(t *testing.T) {
	dir := home(t)
	e := connect(t, &compose.Options{Model: "demo"})
	e.respond = func(string, string) any { return allow(string(event.Once)) }
	var all sync.WaitGroup
	for _, name := range []string{"one", "two"} {
		sub := filepath.Join(dir, name)
		if err := os.Mkdir(sub, 0o700); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			id := e.begin(sub)
			e.prompt(id, textOf("write "+name+" to a.txt"))
			if data, err := os.ReadFile(filepath.Join(sub, "a.txt")); !strings.Contains(string(data), name) {
				t.Errorf("%s has %q, %v", sub, data, err)
			}
		})
	}
	all.Wait()
}

// The self-test passes.
func TestCheck(t *testing.T) {
	home(t)
	var out strings.Builder
	if err := Check(&compose.Options{}, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if n := strings.Count(out.String(), "ok  "); n != 11 || slices.Contains(strings.Fields(out.String()), "FAILED") {
		t.Errorf("%d steps: %s", n, out.String())
	}
}
