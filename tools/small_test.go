package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/agent/model"
	"buddy/tmux"
	"buddy/tools/web"
)

// netBench has the tools that need no files, with a server to fetch from.
func netBench(t *testing.T, h http.HandlerFunc) (*bench, string) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	b := newBench(t)
	client := web.NewClient(web.Options{Loopback: true, SearchURL: srv.URL + "/search"})
	now := func() time.Time { return time.Date(2026, 2, 3, 4, 5, 6, 789e6, time.FixedZone("CET", 3600)) }
	b.tools = NewRegistry(NewFetchURL(client), NewWebSearch(client), NewTime(now), NewTodo(), NewAskUser())
	return b, srv.URL
}

func TestFetchURLD17(t *testing.T) {
	requests := 0
	b, url := netBench(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		switch r.URL.Path {
		case "/page":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<title>T</title><p>Hello <a href=next>next</a>")
		case "/long":
			fmt.Fprint(w, strings.Repeat("é", 10_000))
		case "/huge":
			fmt.Fprint(w, strings.Repeat("x", web.MaxBody+1))
		case "/away":
			http.Redirect(w, r, "https://other.example/x", http.StatusMovedPermanently)
		case "/png":
			w.Header().Set("Content-Type", "image/png")
			fmt.Fprint(w, "\x89PNG")
		default:
			http.Error(w, "no such page", http.StatusNotFound)
		}
	})
	got := b.ok("fetch_url", args{"url": url + "/page#part"})
	if got["content"] != "# T\n\nHello [next]("+url+"/next)\n" || got["status"] != 200.0 || got["content_type"] != "text/html" || got["url"] != url+"/page" {
		t.Errorf("page = %v", got)
	}
	got = b.ok("fetch_url", args{"url": url + "/missing"})
	if got["content"] != "no such page\n" || got["status"] != 404.0 || got["note"] != nil {
		t.Errorf("missing = %v", got)
	}
	got = b.ok("fetch_url", args{"url": url + "/away"})
	if got["status"] != 301.0 || !strings.HasPrefix(got["note"].(string), "it redirects to https://other.example/x, which was not followed") {
		t.Errorf("away = %v", got)
	}

	requests = 0
	var all strings.Builder
	offset := 0
	for range 5 {
		got = b.ok("fetch_url", args{"url": url + "/long", "offset": offset})
		text := strings.TrimSuffix(got["content"].(string), truncated)
		if all.WriteString(text); len(text) > MinPage {
			t.Errorf("%d bytes", len(text))
		}
		note, more := got["note"].(string)
		if !more {
			break
		}
		if _, err := fmt.Sscanf(note, "read on with offset=%d of 20000", &offset); err != nil {
			t.Fatal(note)
		}
	}
	if all.String() != strings.Repeat("é", 10_000) || requests != 1 {
		t.Errorf("%d bytes in %d requests", all.Len(), requests)
	}
	b.fails("fetch_url", args{"url": url + "/long", "offset": 20_000}, "invalid arguments: offset: 20000, but the text has 20000 bytes")
	if got = b.ok("fetch_url", args{"url": url + "/huge", "offset": web.MaxBody - 10}); got["note"] != "the page is longer than the 2097152 bytes that are read" {
		t.Errorf("huge = %v", got)
	}
	b.fails("fetch_url", args{"url": url + "/png"}, "is not text: 4 bytes of image/png")
	b.fails("fetch_url", args{"url": "http://10.0.0.1/"}, "invalid arguments: url: the address 10.0.0.1 is not public: private")
	b.fails("fetch_url", args{"url": "/etc/passwd"}, "must begin with https://")
	b.fails("fetch_url", args{"url": "http://127.0.0.1:1/"}, "execution failed: 127.0.0.1:1: ", "refused")

	call, err := b.plan("fetch_url", args{"url": "https://GO.dev:8443/x#y"})
	want := action.Action{Kind: action.Network, Tool: "fetch_url", Target: "local", URL: "https://go.dev:8443/x", Host: "go.dev", Method: "GET", Preview: "GET https://go.dev:8443/x", Why: "a test", Risk: action.Low}
	if err != "" || fmt.Sprint(call.Planned) != fmt.Sprint(want) {
		t.Errorf("Plan = %+v, %s, want %+v", call.Planned, err, want)
	}
}

// TestFetchURLPart: 8000 bytes come in one piece, one more makes a second.
func TestFetchURLPart(t *testing.T) {
	b, url := netBench(t, func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		fmt.Fprint(w, strings.Repeat("x", n))
	})
	if got := b.ok("fetch_url", args{"url": url + "/?n=8000"}); got["content"] != strings.Repeat("x", 8000) || got["note"] != nil {
		t.Errorf("of 8000 bytes %d, note %v", len(got["content"].(string)), got["note"])
	}
	got := b.ok("fetch_url", args{"url": url + "/?n=8001"})
	if got["content"] != strings.Repeat("x", 8000)+truncated || got["note"] != "read on with offset=8000 of 8001" {
		t.Errorf("of 8001 bytes %d, note %v", len(got["content"].(string)), got["note"])
	}
}

func TestWebSearchD18(t *testing.T) {
	page := `<div class="result"><a class="result__a" href="https://go.dev/">Go</a><a class="result__snippet">A language.</a></div><div class="result"><a class="result__a" href="https://x.example/">X</a></div>`
	b, url := netBench(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, page) })
	got := b.ok("web_search", args{"query": "go lang"})
	if got["count"] != 2.0 || got["results"] != "1. Go\n   https://go.dev/\n   A language.\n2. X\n   https://x.example/\n" {
		t.Errorf("search = %v", got)
	}
	call, _ := b.plan("web_search", args{"query": "go lang"})
	if act := call.Planned; act.URL != url+"/search?q=go+lang" || act.Host != "127.0.0.1" || act.Preview != "go lang" || act.Kind != action.Network {
		t.Errorf("Plan = %+v", act)
	}
	page = `<div class="no-results">`
	if got := b.ok("web_search", args{"query": "x"}); got["count"] != 0.0 || got["note"] != "nothing was found" {
		t.Errorf("search = %v", got)
	}
	page = "<p>something else</p>"
	b.fails("web_search", args{"query": "x"}, "is not what it used to be")
	b.fails("web_search", args{"query": strings.Repeat("x", maxQuery+1)}, "invalid arguments: query: longer than 500 bytes")
}

func TestTimeD19(t *testing.T) {
	b, _ := netBench(t, nil)
	call, err := b.plan("time", args{})
	if err != "" || call.Planned.Kind != action.Internal {
		t.Fatal(call.Planned, err)
	}
	const want = `"result":{"unix_seconds":1770087906,"unix_millis":1770087906789,"unix_nanos":1770087906789000000,` +
		`"iso8601":"2026-02-03T03:05:06Z","iso8601_millis":"2026-02-03T03:05:06.789Z","rfc2822":"Tue, 03 Feb 2026 03:05:06 +0000",` +
		`"date":"2026-02-03","time":"03:05:06","local":"2026-02-03T04:05:06+01:00 CET"}`
	if res := b.run(call); !strings.Contains(res.Content, want) {
		t.Errorf("time = %s, want %s", res.Content, want)
	}
}

func TestTodo(t *testing.T) {
	b, _ := netBench(t, nil)
	item := func(text, state string) args { return args{"text": text, "state": state} }
	got := b.ok("todo", args{"items": []args{item("find\nit", "completed"), item("fix it", "in_progress"), item("test", "pending")}})
	if got["list"] != "[x] find it\n[>] fix it\n[ ] test\n" || got["note"] != nil {
		t.Errorf("todo = %v", got)
	}
	if got := b.ok("todo", args{"items": []args{}}); got["note"] != "the list is empty" {
		t.Errorf("todo = %v", got)
	}
	if got := b.ok("todo", args{"items": []args{item("a", "in_progress"), item("b", "in_progress")}}); got["note"] != "more than one step is in progress" {
		t.Errorf("todo = %v", got)
	}
	b.fails("todo", args{}, "items: missing, expected array")
	b.fails("todo", args{"items": []args{item("a", "done")}}, `items[0].state: expected one of pending, in_progress, completed, got "done"`)
	b.fails("todo", args{"items": []args{item(" ", "pending")}}, "items[0].text: must not be blank")
	b.fails("todo", args{"items": []args{item(strings.Repeat("x", maxTodo+1), "pending")}}, "items[0].text: longer than 500 bytes")
	b.fails("todo", args{"items": make([]args, 51)}, "items: at most 50, got 51")
}

func TestAskUserD24(t *testing.T) {
	b, _ := netBench(t, nil)
	call, err := b.plan("ask_user", args{"question": "Which?", "choices": []string{"a", "b"}})
	if err != "" || call.Planned.Kind != action.Internal || call.Planned.Preview != "Which?" {
		t.Fatal(call.Planned, err)
	}
	payload := func() map[string]any {
		got, err := b.finish(call)
		if err != "" {
			t.Fatal(err)
		}
		return got
	}
	nobody := func(context.Context, string, []string) (string, error) { return "", ErrNobody }
	for _, ask := range []func(context.Context, string, []string) (string, error){nil, nobody} {
		call.Ask = ask
		got := payload()
		if _, answered := got["answer"]; answered || !strings.HasPrefix(got["note"].(string), "nobody was there to ask") {
			t.Errorf("without a person: %v", got)
		}
	}
	call.Ask = func(_ context.Context, question string, choices []string) (string, error) {
		return fmt.Sprint(question, choices), nil
	}
	if got := payload(); got["answer"] != "Which?[a b]" || got["note"] != nil {
		t.Errorf("answer = %v", got)
	}
	call.Ask = func(context.Context, string, []string) (string, error) { return "", nil }
	if got := payload(); got["note"] != "the person gave an empty answer" {
		t.Errorf("answer = %v", got)
	}
	call.Ask = func(context.Context, string, []string) (string, error) { return "", errors.New("gone") }
	if res := b.run(call); !res.IsError || !strings.Contains(res.Content, "the question was not answered: gone") {
		t.Errorf("answer = %+v", res)
	}
	b.fails("ask_user", args{"choices": []string{"a"}}, "question: missing, expected string")
	b.fails("ask_user", args{"question": strings.Repeat("x", maxQuestion+1)}, "question: longer than 2000 bytes")
	b.fails("ask_user", args{"question": "x", "choices": []string{strings.Repeat("x", maxChoice+1)}}, "choices[0]: longer than 200 bytes")
	b.fails("ask_user", args{"question": "x", "choices": make([]string, 10)}, "choices: at most 9, got 10")
	tool, _ := b.tools.Lookup("ask_user")
	if p, ok := tool.(Patient); !ok || !p.Patient(call) {
		t.Error("the time for an answer is limited (D25)")
	}
}

// budgets are what the definitions may cost in each request, in bytes of a definition in JSON.
var budgets = map[string]int{
	"run_shell": 950, "read_file": 500, "write_file": 320, "edit_file": 700, "apply_patch": 450, "glob": 300, "grep": 580,
	"fetch_url": 320, "web_search": 250, "todo": 460, "ask_user": 350, "tool_search": 290, "use_tool": 230,
}

// The names and their order are part of what providers cache, and what all of it costs
// in each request is bounded (C11, DECISIONS 24).
func TestDefaultTools(t *testing.T) {
	b := newBench(t)
	deferred := NewDeferred()
	r := NewRegistry(Default(NewRunShell(&tmux.Session{}, nil, "local", "", nil), b.ws, web.NewClient(web.Options{}), deferred)...).Without(Quiet...)
	var names []string
	sum := 0
	for _, def := range r.Definitions() {
		names = append(names, def.Name)
		data, err := json.Marshal(def)
		must(t, err)
		sum += len(data)
		t.Logf("%5d of %3d %s", len(data), budgets[def.Name], def.Name)
		if len(data) > budgets[def.Name] {
			t.Errorf("%s has %d bytes, %d are its budget", def.Name, len(data), budgets[def.Name])
		}
	}
	const want = "run_shell read_file write_file edit_file apply_patch glob grep fetch_url web_search todo ask_user tool_search use_tool"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("tools = %s, want %s", got, want)
	}
	if t.Logf("%5d in all", sum); sum > 5_350 { // with one form of edits less, the system prompt and the frame of a request 9,000
		t.Errorf("the definitions have %d bytes", sum)
	}
	for _, name := range Quiet {
		if _, err := r.Lookup(name); err != nil {
			t.Errorf("%s can't be called: %v", name, err)
		}
	}
	for _, tool := range append(r.tools, deferred.all()...) {
		validExample(t, r, tool.Definition())
	}
}

// validExample checks that what a tool shows as an example fits its schema and plans.
func validExample(t *testing.T, r *Registry, def model.ToolDef) {
	t.Helper()
	var schema struct{ Required []string }
	if err := json.Unmarshal(def.Parameters, &schema); err != nil || slices.Contains(schema.Required, "why") {
		t.Errorf("%s demands a reason: %v", def.Name, err)
	}
	_, example, ok := strings.Cut(def.Description, "Example: ")
	var values args
	if !ok {
		return
	}
	if err := json.Unmarshal([]byte(example), &values); err != nil {
		t.Errorf("the example of %s: %q, %v", def.Name, example, err)
	}
	for name := range values {
		if !hasArgument(def, name) {
			t.Errorf("the example of %s has %s, the schema has not", def.Name, name)
		}
	}
	tool, call, err := r.Resolve(Call{Name: def.Name, Arguments: example})
	if err == nil {
		_, err = tool.Plan(call)
	}
	if errors.Is(err, ErrArguments) || len(call.Notes) > 0 {
		t.Errorf("the example of %s: %v, %v", def.Name, err, call.Notes)
	}
}

func TestGrepModes(t *testing.T) {
	b := newBench(t)
	b.put("a.go", "x\nx\ny\n", "b.go", "y\n", "c.go", "x\n")
	for mode, want := range map[string]string{"lines": "a.go:1:x\na.go:2:x\nc.go:1:x\n", "files": "a.go\nc.go\n", "count": "a.go:2\nc.go:1\n"} {
		if got := b.ok("grep", args{"pattern": "x", "mode": mode}); got["matches"] != want {
			t.Errorf("%s: %q, want %q", mode, got["matches"], want)
		}
	}
	b.fails("grep", args{"pattern": "x", "mode": "paths"}, "expected one of lines, files, count")
	for i := range fileLimit + 3 {
		b.put(fmt.Sprintf("many/%d.txt", i), "z\n")
	}
	got := b.ok("grep", args{"pattern": "z", "mode": "files"})
	if n := strings.Count(got["matches"].(string), "\n"); n != fileLimit || !strings.Contains(got["note"].(string), "there are more") {
		t.Errorf("%d files, note %v", n, got["note"])
	}
}

func TestReadFileListsAFolder(t *testing.T) {
	b := newBench(t)
	b.put("src/a.go", "x\n", "src/deep/b.go", "y\n")
	for depth, want := range map[int]string{1: "a.go 2\ndeep/\n", 2: "a.go 2\ndeep/\ndeep/b.go 2\n"} {
		if got := b.ok("read_file", args{"path": "src", "depth": depth}); got["entries"] != want {
			t.Errorf("depth %d: %v", depth, got)
		}
	}
}

func TestPagesFitTheModel(t *testing.T) {
	for window, want := range map[int]int{0: 8_000, 8_192: 8_000, 32_000: 8_000, 64_000: 16_000, 128_000: 32_000, 200_000: 40_000, 1_000_000: 40_000} {
		if got := PageOf(window, 0); got != want {
			t.Errorf("a window of %d tokens gets %d bytes, want %d", window, got, want)
		}
	}
	if PageOf(1_000_000, 100_000) != 100_000 || PageOf(0, 100_000) != MinPage || PageOf(1_000_000, 500) != 500 {
		t.Error("what is set is not the most")
	}
	b := newBench(t)
	b.put("a.txt", strings.Repeat("1234567\n", 5_000))
	call, _ := b.plan("read_file", args{"path": "a.txt"})
	call.Page = 40_000
	if got, err := b.finish(call); err != "" || len(got["content"].(string)) != 40_000 || got["note"] != nil {
		t.Errorf("%d bytes, note %v, %s", len(got["content"].(string)), got["note"], err)
	}
}
