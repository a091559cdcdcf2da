package e2e

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"buddy/agent/model"
	"buddy/agent/model/modeltest"
)

const partOfWork = "Say that it is done."

// manyCalls answers a prompt "NAME N" with N calls of that name at once, and anything else with a word. ended receives
// at the final answer to each prompt.
func manyCalls(ended chan<- struct{}) modeltest.Script {
	return func(r modeltest.Request) modeltest.Answer {
		last := lastMessage(r)
		prompt := promptIn(last.Content)
		name, count, _ := strings.Cut(prompt, " ")
		n, err := strconv.Atoi(count)
		if last.Role == model.Tool || err != nil {
			if prompt != partOfWork {
				ended <- struct{}{}
			}
			return modeltest.Answer{modeltest.Text("done")}
		}
		var a modeltest.Answer
		for i := range n {
			args := map[string]any{"name": fmt.Sprintf("mcp__s%02d__echo", i), "args": map[string]any{"text": fmt.Sprintf("from %d", i)}}
			if name == "agent" {
				args = map[string]any{"type": "general", "title": fmt.Sprintf("part %d", i), "prompt": partOfWork}
			}
			text, _ := json.Marshal(args)
			a = append(a, modeltest.Call{ID: fmt.Sprintf("c%d_%d", len(r.Messages), i), Name: name, Arguments: string(text)})
		}
		return a
	}
}

// TestManyAtOnce: fifty MCP servers do not delay the first frame, a hundred subagents leave little memory behind, and
// twenty sessions at once fit into a small machine. It prints the cost of each.
func TestManyAtOnce(t *testing.T) {
	if *growthTurns == 0 {
		t.Skip("takes a minute; make counterparts ONLY=growth does")
	}
	const mb = 1 << 20
	limit := func(what string, got, most int64) {
		t.Logf("%s: %.1f MB", what, float64(got)/mb)
		if got > most {
			t.Errorf("%s: %d bytes, want at most %d", what, got, most)
		}
	}

	alone := askMany(t, "[agents]\nat_once = 10\n")
	one := alone.weigh()

	var servers strings.Builder
	for i := range 50 {
		fmt.Fprintf(&servers, "[mcp.s%02d]\ncommand = [\"mcp-server\"]\nenabled = true\n", i)
	}
	beside := askMany(t, servers.String())
	beside.prompt("use_tool 50")
	with := beside.weigh()
	if n := strings.Count(beside.journal(), `"tool":"echo","call_id":`) - strings.Count(beside.journal(), `"is_error":true`); n != 100 { // starts and ends
		t.Errorf("servers were told of %d beginnings and ends of calls, want 100", n)
	}
	limit("a session without servers", one.screen+one.host, 60*mb)
	limit("fifty servers more", with.screen+with.host-one.screen-one.host, 50*mb)

	before := one
	for round := range 10 {
		began := time.Now()
		alone.prompt("agent 10")
		t.Logf("subagents %d to %d: %s", 10*round+1, 10*round+10, time.Since(began).Round(time.Millisecond))
	}
	after := alone.weigh()
	if n := strings.Count(alone.journal(), `"outcome":"completed"`); n != 1+10+100 {
		t.Errorf("%d tasks were completed, want 111", n)
	}
	limit("a hundred subagents", after.screen+after.host-before.screen-before.host, 20*mb)

	for range 19 {
		one := manyAsked{alone.another("--approve", "all"), alone.ended}
		one.want("Enter")
		one.prompt("hello")
	}
	alone.weigh() // waits until it is idle
	limit("the hosts of twenty sessions", alone.hosts(20), 200*mb)
}

// hosts returns the memory of the processes of n sessions.
func (d *dialog) hosts(n int) (bytes int64) {
	d.t.Helper()
	files, _ := filepath.Glob(filepath.Join(d.work, ".buddyx/sessions/*.pid"))
	if len(files) != n {
		d.t.Errorf("%d sessions run, want %d", len(files), n)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		pid, bad := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil || bad != nil {
			d.t.Fatal(err, bad)
		}
		bytes += pss(d.t, pid)
	}
	return bytes
}

// manyAsked is a program whose model makes many calls.
type manyAsked struct {
	*dialog
	ended chan struct{}
}

// askMany starts the program with additional settings, and waits for the answer to a first prompt.
func askMany(t *testing.T, settings string) manyAsked {
	t.Helper()
	ended := make(chan struct{}, 1)
	server := httptest.NewServer(modeltest.New(manyCalls(ended)))
	t.Cleanup(server.Close)
	m := manyAsked{newDialog(t, "xterm-256color"), ended}
	m.write("home/.config/buddy/buddy.toml", fmt.Sprintf("[agent]\nmodel = \"m\"\n[models.m]\napi_base_url = %q\napi_key = \"\"\nmodel = \"m\"\ncontext_limit = 200000\n%s", server.URL+"/v1", settings))
	began := time.Now()
	m.start("--approve", "all")
	m.want("Enter")
	t.Logf("first frame after %s", time.Since(began).Round(time.Millisecond))
	m.prompt("hello")
	return m
}

// prompt types a prompt and waits for the model's final answer.
func (m manyAsked) prompt(text string) {
	m.t.Helper()
	m.types(text)
	time.Sleep(pasteGap)
	m.types("\r")
	select {
	case <-m.ended:
	case <-time.After(plainLimit):
		m.t.Fatalf("%s: no answer", text)
	}
}
