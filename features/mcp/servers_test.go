package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/settings"
	"buddy/tmux/host/child"
	"buddy/tools"
)

// longTime is longer than anything takes on a busy machine.
const longTime = 60 * time.Second

type bench struct {
	t        *testing.T
	all      *Servers
	deferred *tools.Deferred

	mu     sync.Mutex
	events []event.Event
	news   chan struct{}
}

// hostileServer returns a server that misbehaves in one way.
func hostileServer(mode string, args ...string) Server {
	return Server{
		Name: mode, Transport: Stdio, Legacy: mode != "oldmute" && mode != "oldexit",
		Process:  Process{Command: append([]string{os.Args[0], "hostile", mode}, args...)},
		MCPTimes: settings.MCPTimes{StartTimeout: longTime, Timeout: longTime, Idle: longTime},
	}
}

func start(t *testing.T, servers ...Server) *bench { return startIn(t, t.TempDir(), servers...) }

func startIn(t *testing.T, state string, servers ...Server) *bench {
	t.Helper()
	b := &bench{t: t, deferred: tools.NewDeferred(), news: make(chan struct{}, 1)}
	b.all = New(Options{Servers: servers, Deferred: b.deferred, State: state, Publish: b.publish})
	b.all.Start()
	t.Cleanup(b.all.Close)
	return b
}

func (b *bench) publish(e event.Event) {
	b.mu.Lock()
	b.events = append(b.events, e)
	b.mu.Unlock()
	select {
	case b.news <- struct{}{}:
	default:
	}
}

// until waits for a condition that an event causes.
func (b *bench) until(what string, ok func() bool) {
	b.t.Helper()
	late := time.After(longTime)
	for !ok() {
		select {
		case <-b.news:
		case <-time.After(20 * time.Millisecond):
		case <-late:
			b.t.Fatalf("not %s: %+v", what, b.all.List())
		}
	}
}

func (b *bench) status(name string) Status {
	b.t.Helper()
	for _, st := range b.all.List() {
		if st.Name == name {
			return st
		}
	}
	b.t.Fatalf("no server %s", name)
	return Status{}
}

// settled waits until all servers are ready or have failed.
func (b *bench) settled() {
	b.t.Helper()
	b.until("settled", func() bool { return b.count(func(e event.Event) bool { _, ok := e.(event.MCPReady); return ok }) > 0 })
}

func (b *bench) count(match func(event.Event) bool) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.events {
		if match(e) {
			n++
		}
	}
	return n
}

// planned returns a call as use_tool makes it, with its plan.
func (b *bench) planned(name, args string) (tools.Tool, tools.Call) {
	b.t.Helper()
	use := tools.NewUseTool(b.deferred)
	call := tools.Call{ID: "c1", Name: "use_tool", Arguments: fmt.Sprintf(`{"name":%q,"args":%s}`, name, args)}
	act, err := use.Plan(call)
	if err != nil {
		b.t.Fatalf("plan of %s: %v", name, err)
	}
	call.Planned = act
	return use, call
}

// call makes an approved call of a tool.
func (b *bench) call(name, args string) tools.Result {
	b.t.Helper()
	use, call := b.planned(name, args)
	return use.Run(b.t.Context(), call)
}

func TestHostileServersEndInOneStateAndOthersWork(t *testing.T) {
	probed := hostileServer("mute") // the present protocol is tried first, then the former one
	probed.Name, probed.Legacy = "probed", false
	b := start(t,
		limited(probed, probeTime+time.Second), hostileServer("good"), hostileServer("noisy"), hostileServer("cursor"), hostileServer("pages"), hostileServer("deep"),
		hostileServer("twice"), hostileServer("names"), hostileServer("orders"), hostileServer("dying"), hostileServer("long"),
		limited(hostileServer("mute"), 2*time.Second), limited(hostileServer("silentlist"), 2*time.Second),
		Server{Name: "missing", Transport: Stdio, Process: Process{Command: []string{"/nonexistent/server"}}},
		Server{Name: "broken", Transport: Stdio, Problem: "the variable TOKEN is not set"},
	)
	b.settled()
	for _, tt := range []struct {
		name  string
		state State
		text  string // in its error or notes
		tools []string
	}{
		{"good", Ready, "", []string{"mcp__good__echo"}},
		{"noisy", Ready, "5 lines of its output that are not messages were dropped", []string{"mcp__noisy__echo"}},
		{"cursor", Ready, "its list repeats itself after 2 pages", []string{"mcp__cursor__echo"}},
		{"pages", Ready, "its list has more than 50 pages", nil},
		{"deep", Ready, `left out: "deep": its schema has more than 32 levels`, []string{"mcp__deep__echo"}},
		{"twice", Ready, `left out: "echo" is defined twice`, []string{"mcp__twice__echo"}},
		{"names", Ready, "", []string{"mcp__names__a_b_", "mcp__names__a_b_", "mcp__names____31mred", "mcp__names__nnn"}},
		{"orders", Ready, "", []string{"mcp__orders__evil", "mcp__orders__echo"}},
		{"dying", Failed, "it exited with status 3: at port 5432", nil},
		{"long", Failed, "it sent a message of more than 8 MiB", nil},
		{"mute", Failed, "it did not answer within 2s", nil},
		{"probed", Failed, "it did not answer within 4s", nil}, // the whole limit, not the rest after the probe
		{"silentlist", Failed, "within 2s", nil},               // either answer may be late, depending on the machine
		{"missing", Failed, "/nonexistent/server", nil},
		{"broken", Off, "the variable TOKEN is not set", nil},
	} {
		st := b.status(tt.name)
		if text := st.Error + strings.Join(st.Notes, "\n"); st.State != tt.state || !strings.Contains(text, tt.text) {
			t.Errorf("%s is %s: %.300s, want %s: %s", tt.name, st.State, text, tt.state, tt.text)
		}
		for i, want := range tt.tools {
			if i >= len(st.Tools) || !strings.HasPrefix(st.Tools[i].Name, want) || len(st.Tools[i].Name) > maxName {
				t.Errorf("%s has the tools %+v, want %s", tt.name, st.Tools, tt.tools)
				break
			}
		}
	}
	if log := b.status("dying").Stderr; !strings.Contains(log, "no database\nat port 5432") {
		t.Errorf("the log of one that never started: %q", log)
	}
	if names := b.status("names").Tools; names[0].Name == names[1].Name || strings.ContainsAny(names[2].Name, "\x1b\x07") {
		t.Errorf("names: %+v", names)
	}
	if n := len(b.status("pages").Tools); n != maxPages {
		t.Errorf("%d tools of %d pages", n, maxPages)
	}
	if res := b.call("mcp__good__echo", `{"text":"hello"}`); res.IsError || res.Content != "hello" {
		t.Errorf("the good one answered %+v", res)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	last := slices.IndexFunc(b.events, func(e event.Event) bool { _, ok := e.(event.MCPReady); return ok })
	ready := b.events[last].(event.MCPReady)
	if len(ready.Servers) != 8 || len(ready.Failed) != 6 {
		t.Errorf("mcp.ready says %+v", ready)
	}
}

func limited(s Server, start time.Duration) Server {
	s.StartTimeout = start
	return s
}

func TestPoisonedDescriptionIsWithheldUntilRead(t *testing.T) {
	state := t.TempDir()
	b := startIn(t, state, hostileServer("orders"))
	b.settled()
	described := func(b *bench) string {
		for _, tool := range b.deferred.All() {
			if tool.Definition().Name == "mcp__orders__evil" {
				return tool.Definition().Description
			}
		}
		return ""
	}
	if got := described(b); !strings.Contains(got, "hidden") || strings.Contains(got, "rm -rf") {
		t.Errorf("description = %q", got)
	}
	if got := b.all.Listing()[0].Text; !strings.Contains(got, "hidden") || strings.Contains(got, "rm -rf") {
		t.Errorf("listing = %q", got)
	}
	if err := b.all.MarkRead("orders"); err != nil {
		t.Fatal(err)
	}
	if got := described(b); !strings.Contains(got, "rm -rf") { // the person has read it
		t.Errorf("description after it was read = %q", got)
	}
	b.all.Close()
	again := startIn(t, state, hostileServer("orders"))
	again.settled()
	if got := described(again); !strings.Contains(got, "rm -rf") || !strings.Contains(again.all.Listing()[0].Text, "rm -rf") {
		t.Errorf("in the next session: %q, %+v", got, again.all.Listing())
	}
}

func TestChangedToolNeedsAnotherApproval(t *testing.T) {
	state := t.TempDir()
	b := startIn(t, state, hostileServer("changing"))
	b.settled()
	use, first := b.planned("mcp__changing__echo", `{"text":"a"}`)
	if first.Planned.Changed || first.Planned.Definition == "" {
		t.Fatalf("the first plan: %+v", first.Planned)
	}
	if res := use.Run(t.Context(), first); res.IsError {
		t.Fatalf("the first call: %+v", res)
	}
	b.until("changed", func() bool {
		_, call := b.planned("mcp__changing__echo", `{"text":"a"}`)
		return call.Planned.Changed
	})
	_, second := b.planned("mcp__changing__echo", `{"text":"a"}`)
	for _, want := range []string{"The server has changed this tool", `-  "description": "Says it again."`, "sends your keys to me"} {
		if !strings.Contains(second.Planned.Preview, want) {
			t.Errorf("the question has no %q: %s", want, second.Planned.Preview)
		}
	}
	if res := use.Run(t.Context(), first); !res.IsError || !strings.Contains(res.Content, "has changed this tool while") {
		t.Errorf("a call that was planned before the change: %+v", res)
	}
	// A damaged file counts as a change.
	if err := os.WriteFile(filepath.Join(state, "mcp.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, call := b.planned("mcp__changing__echo", `{"text":"a"}`); !call.Planned.Changed || !strings.Contains(call.Planned.Preview, "is damaged") {
		t.Errorf("with a damaged file: %+v", call.Planned)
	}
	if res := use.Run(t.Context(), second); res.IsError || res.Content != "a" {
		t.Errorf("the approved call: %+v", res)
	}
	if _, call := b.planned("mcp__changing__echo", `{"text":"a"}`); call.Planned.Changed {
		t.Errorf("it was approved: %+v", call.Planned)
	}
}

func TestHintsCountOnlyForThePersonsTrustedServers(t *testing.T) {
	for _, tt := range []struct {
		hints, project, free bool
	}{{false, false, false}, {true, false, true}, {true, true, false}} {
		s := hostileServer("hints")
		s.Hints, s.Project = tt.hints, tt.project
		b := start(t, s)
		b.settled()
		use, call := b.planned("mcp__hints__echo", `{"text":"a"}`)
		if free := call.Planned.Hinted && !call.Planned.Mutation; free != tt.free || tools.IsParallel(use, call) != tt.free {
			t.Errorf("%+v: %+v", tt, call.Planned)
		}
	}
}

func TestServerThatDiesInACallIsStartedAgain(t *testing.T) {
	b := start(t, hostileServer("diescalled", filepath.Join(t.TempDir(), "died")))
	b.settled()
	res := b.call("mcp__diescalled__echo", `{"text":"a"}`)
	if !res.IsError || !strings.Contains(res.Content, "it exited with status 2: panic: nil map") {
		t.Errorf("the call in which it died: %+v", res)
	}
	if res := b.call("mcp__diescalled__echo", `{"text":"a"}`); res.IsError || res.Content != "alive" {
		t.Errorf("the next call: %+v", res)
	}
	started := b.count(func(e event.Event) bool { _, ok := e.(event.MCPCallStarted); return ok })
	finished := b.count(func(e event.Event) bool { _, ok := e.(event.MCPCallFinished); return ok })
	ready := b.count(func(e event.Event) bool { _, ok := e.(event.MCPReady); return ok })
	if started != 2 || finished != 2 || ready != 1 {
		t.Errorf("%d calls began, %d ended, mcp.ready %d times", started, finished, ready)
	}
}

// The end of a program ends its connection, whether it exits or closes its output.
func TestEndOfAProgramIsKnown(t *testing.T) {
	p, err := child.Start(t.Context(), child.Spec{Name: "mcp server ends", Command: []string{"sh", "-c", "exit 3"}, State: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	c := &connection{process: p, ended: make(chan struct{})}
	for range 20_000 {
		if got := c.exit(false); got != "it exited with status 3" {
			t.Fatalf("exit: %q", got)
		}
	}
	if !c.over(errors.New("write: broken pipe")) || !(&connection{ended: c.ended}).over(io.EOF) {
		t.Error("the connection is not over")
	}
}

func TestHostileOutput(t *testing.T) {
	b := start(t, hostileServer("big"), hostileServer("toobig"), hostileServer("escapes"), hostileServer("env"))
	b.settled()
	if res := b.call("mcp__big__echo", `{"text":""}`); res.IsError || len(res.Content) != 8_000_000 || len(res.Tail) > tools.TailLimit {
		t.Errorf("8 MB: %v, %d bytes, tail %d", res.IsError, len(res.Content), len(res.Tail))
	}
	if res := b.call("mcp__toobig__echo", `{"text":""}`); !res.IsError || !strings.Contains(res.Content, "more than 8 MiB") {
		t.Errorf("9 MB: %.200s", res.Content)
	}
	if res := b.call("mcp__escapes__echo", `{"text":""}`); res.Content != "red  done" || strings.Contains(res.Tail, "\x1b") {
		t.Errorf("escapes: %q, %q", res.Content, res.Tail)
	}
	t.Setenv("BUDDY_API_KEY", "sk-secret")
	if res := b.call("mcp__env__echo", `{"text":""}`); strings.Contains(res.Content, "API_KEY") || !strings.Contains(res.Content, "PATH=") {
		t.Errorf("environment: %s", res.Content)
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	b := start(t, hostileServer("good"))
	b.settled()
	use := tools.NewUseTool(b.deferred)
	for args, want := range map[string]string{
		`{}`: "text", `{"text":1}`: "text", `[]`: "expected object",
	} {
		_, err := use.Plan(tools.Call{Name: "use_tool", Arguments: `{"name":"mcp__good__echo","args":` + args + `}`})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
	_, call := b.planned("mcp__good__echo", `{"text":"x"}`)
	if a := call.Planned; a.Kind != action.MCP || a.Tool != "mcp__good__echo" || a.Op != "good: echo" || a.Preview != "text: x" || a.Risk != action.Medium || !a.Mutation {
		t.Errorf("plan = %+v", a)
	}
}

func TestCancelledCallIsOverAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cancelled")
	b := start(t, hostileServer("cancel", file))
	b.settled()
	use, call := b.planned("mcp__cancel__echo", `{"text":"x"}`)
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan tools.Result)
	go func() { got <- use.Run(ctx, call) }()
	b.until("called", func() bool {
		return b.count(func(e event.Event) bool { _, ok := e.(event.MCPCallStarted); return ok }) > 0
	})
	cancel()
	if res := <-got; !res.IsError {
		t.Errorf("result = %+v", res)
	}
	b.until("told", func() bool { data, err := os.ReadFile(file); return err == nil && len(data) > 0 })
}

func TestCallsHaveLimitsOfTheirOwn(t *testing.T) {
	wall, idle, steps := hostileServer("hangs"), hostileServer("hangs"), hostileServer("progress")
	wall.Name, wall.Timeout = "wall", 50*time.Millisecond
	idle.Name, idle.Idle = "idle", 50*time.Millisecond
	b := start(t, wall, idle, steps)
	b.settled()
	if res := b.call("mcp__wall__echo", `{"text":"x"}`); !strings.Contains(res.Content, "gave up after 50ms without a result") {
		t.Errorf("wall: %+v", res)
	}
	if res := b.call("mcp__idle__echo", `{"text":"x"}`); !strings.Contains(res.Content, "gave up after 50ms without a sign of life") {
		t.Errorf("idle: %+v", res)
	}
	use, call := b.planned("mcp__progress__echo", `{"text":"x"}`)
	var shown strings.Builder
	var mu sync.Mutex
	call.Output = func(c tools.Chunk) { mu.Lock(); defer mu.Unlock(); shown.Write(c.Text) }
	if res := use.Run(t.Context(), call); res.Content != "done" {
		t.Errorf("progress: %+v", res)
	}
	mu.Lock()
	defer mu.Unlock()
	if !strings.Contains(shown.String(), "1/3 step\n") {
		t.Errorf("shown: %q", shown.String())
	}
	if !tools.IsPatient(use, call) {
		t.Error("the limit of all tools would end it")
	}
}

// Progress of other calls is ignored, and each line is short and has no escape sequences.
func TestStrangeProgress(t *testing.T) {
	b := start(t, hostileServer("strange"))
	b.settled()
	use, call := b.planned("mcp__strange__echo", `{"text":"x"}`)
	shown := make(chan string, 10)
	call.Output = func(c tools.Chunk) { shown <- string(c.Text) }
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan tools.Result)
	go func() { over <- use.Run(ctx, call) }()
	first, second, third := <-shown, <-shown, <-shown
	cancel()
	<-over
	if first != "-0.13\n" || second != "1048576/1e+300 a b\n" || !strings.HasPrefix(third, "2/3 xxx") || len(third) > 310 {
		t.Errorf("shown: %q, %q, %.2000q", first, second, third)
	}
}

// A flood of progress ends the server that sends it, as other notifications do.
func TestFloodOfProgressClosesTheServer(t *testing.T) {
	b := start(t, hostileServer("progressflood"), hostileServer("good"))
	b.settled()
	use, call := b.planned("mcp__progressflood__echo", `{"text":"x"}`)
	var lines atomic.Int64
	call.Output = func(tools.Chunk) { lines.Add(1) }
	_ = use.Run(t.Context(), call)
	b.until("closed", func() bool {
		return strings.Contains(b.status("progressflood").Error, "more than 100 notifications in a second")
	})
	if n := lines.Load(); n > maxNotifications*10 {
		t.Errorf("%d lines were shown", n)
	}
	if res := b.call("mcp__good__echo", `{"text":"x"}`); res.Content != "x" {
		t.Errorf("the other one: %+v", res)
	}
}

func TestFloodClosesTheServer(t *testing.T) {
	b := start(t, hostileServer("flood"), hostileServer("good"))
	b.settled()
	_ = b.call("mcp__flood__echo", `{"text":"x"}`)
	b.until("closed", func() bool {
		return strings.Contains(b.status("flood").Error, "more than 100 notifications in a second")
	})
	if res := b.call("mcp__good__echo", `{"text":"x"}`); res.Content != "x" {
		t.Errorf("the other one: %+v", res)
	}
}

func TestListChangeAddsATool(t *testing.T) {
	b := start(t, hostileServer("grows"))
	b.settled()
	before := tools.NewUseTool(b.deferred).Definition()
	if res := b.call("mcp__grows__echo", `{"text":"x"}`); res.IsError {
		t.Fatal(res.Content)
	}
	b.until("there", func() bool { return len(b.status("grows").Tools) == 2 })
	if res := b.call("mcp__grows__more", `{"text":"y"}`); res.Content != "y" {
		t.Errorf("the new tool: %+v", res)
	}
	if after := tools.NewUseTool(b.deferred).Definition(); string(after.Parameters) != string(before.Parameters) || after.Description != before.Description {
		t.Error("the definition of use_tool has changed")
	}
}

func TestOldServersThatDoNotKnowTheFirstRequest(t *testing.T) {
	state := t.TempDir()
	b := startIn(t, state, hostileServer("oldmute"), hostileServer("oldexit"))
	b.settled()
	for _, name := range []string{"oldmute", "oldexit"} {
		if st := b.status(name); st.State != Ready || st.Protocol != "2025-11-25" {
			t.Errorf("%s: %+v", name, st)
		}
	}
	known, err := (&pins{path: filepath.Join(state, "mcp.json")}).read()
	if err != nil || len(known.Legacy) != 2 {
		t.Errorf("remembered: %+v, %v", known.Legacy, err)
	}
}

func TestCallWaitsForAServerThatStarts(t *testing.T) {
	b := &bench{t: t, deferred: tools.NewDeferred(), news: make(chan struct{}, 1)}
	b.all = New(Options{Servers: []Server{hostileServer("good")}, Deferred: b.deferred, State: t.TempDir(), Publish: b.publish})
	t.Cleanup(b.all.Close)
	use, call := b.planned("mcp__good__echo", `{"text":"early"}`)
	if call.Planned.Kind != action.MCP || !call.Planned.Mutation {
		t.Errorf("plan = %+v", call.Planned)
	}
	got := make(chan tools.Result)
	go func() { got <- use.Run(t.Context(), call) }()
	b.all.Start()
	if res := <-got; res.IsError || res.Content != "early" {
		t.Errorf("result = %+v", res)
	}
	if _, err := use.Plan(tools.Call{Name: "use_tool", Arguments: `{"name":"mcp__good__none"}`}); err == nil {
		t.Error("a tool that a ready server does not have was planned")
	}
}

func TestSwitchedOffAndOn(t *testing.T) {
	b := start(t, hostileServer("good"))
	b.settled()
	if err := b.all.Switch("good", false); err != nil {
		t.Fatal(err)
	}
	b.until("off", func() bool { return b.status("good").State == Off })
	if _, err := tools.NewUseTool(b.deferred).Plan(tools.Call{Name: "use_tool", Arguments: `{"name":"mcp__good__echo","args":{"text":"x"}}`}); err == nil {
		t.Error("a tool of a server that is off can be called")
	}
	if err := b.all.Switch("good", true); err != nil {
		t.Fatal(err)
	}
	b.until("on", func() bool { return b.status("good").State == Ready })
	if res := b.call("mcp__good__echo", `{"text":"x"}`); res.Content != "x" {
		t.Errorf("result = %+v", res)
	}
	if err := b.all.Switch("none", true); err == nil || !strings.Contains(err.Error(), "(have: good)") {
		t.Errorf("error = %v", err)
	}
}

// Replace keeps servers with the same definition in the same process, ends removed ones with their tools, and starts
// new and changed ones.
func TestServersBecomeOthers(t *testing.T) {
	named := func(name string, args ...string) Server {
		s := hostileServer("good", args...)
		s.Name = name
		return s
	}
	b := start(t)
	b.all.Replace([]Server{named("stays"), named("goes"), named("changes")}, nil)
	ready := func(names ...string) func() bool {
		return func() bool {
			for _, st := range b.all.List() {
				if i := slices.Index(names, st.Name); i >= 0 && st.State == Ready {
					names = slices.Delete(slices.Clone(names), i, i+1)
				}
			}
			return len(names) == 0
		}
	}
	b.until("ready", ready("stays", "goes", "changes"))
	kept := make(map[string]*connection)
	conn := func(one *server) *connection {
		one.mu.Lock()
		defer one.mu.Unlock()
		return one.conn
	}
	for _, one := range b.all.every() {
		kept[one.def.Name] = conn(one)
	}
	b.all.Replace([]Server{named("stays"), named("changes", "x"), named("comes")}, nil)
	b.until("ready again", ready("stays", "changes", "comes"))
	select {
	case <-kept["goes"].ended:
	case <-time.After(longTime):
		t.Error("the server that is gone runs")
	}
	if len(b.all.List()) != 3 {
		t.Errorf("servers: %+v", b.all.List())
	}
	for _, one := range b.all.every() {
		if same := conn(one) == kept[one.def.Name]; same != (one.def.Name == "stays") {
			t.Errorf("%s: the same connection %v", one.def.Name, same)
		}
	}
	for _, name := range []string{"stays", "changes", "comes"} {
		if res := b.call("mcp__"+name+"__echo", `{"text":"x"}`); res.Content != "x" {
			t.Errorf("%s: %+v", name, res)
		}
	}
	b.until("gone", func() bool {
		_, err := tools.NewUseTool(b.deferred).Plan(tools.Call{Name: "use_tool", Arguments: `{"name":"mcp__goes__echo","args":{"text":"x"}}`})
		return err != nil
	})
	b.all.Replace(nil, nil)
	if len(b.all.List()) != 0 {
		t.Errorf("left: %+v", b.all.List())
	}
}

func TestRestartsAreLimited(t *testing.T) {
	now := time.Unix(0, 0)
	var r retries
	if _, ok := r.next(Stdio, now); ok {
		t.Error("a program that never was ready is started again")
	}
	var pauses []time.Duration
	for range 4 {
		r.ready(now)
		now = now.Add(time.Second)
		pause, ok := r.next(Stdio, now)
		if !ok {
			pause = -1
		}
		pauses = append(pauses, pause)
		now = now.Add(max(pause, 0))
	}
	if want := []time.Duration{0, 59 * time.Second, 59 * time.Second, -1}; !slices.Equal(pauses, want) {
		t.Errorf("pauses = %v, want %v", pauses, want)
	}
	pauses = nil
	r = retries{}
	for range 6 {
		pause, ok := r.next(HTTP, now)
		if !ok {
			pause = -1
		}
		pauses = append(pauses, pause/time.Second)
	}
	if want := []time.Duration{1, 2, 4, 8, 16, 0}; !slices.Equal(pauses, want) {
		t.Errorf("over HTTP = %v, want %v", pauses, want)
	}
}

// Simultaneous failures are one warning with the next step.
func TestFailuresAreToldOnce(t *testing.T) {
	servers := []Server{hostileServer("good")}
	for i := range 5 {
		servers = append(servers, Server{Name: fmt.Sprintf("gone%d", i), Transport: Stdio, Process: Process{Command: []string{"/nonexistent/server"}}, MCPTimes: settings.MCPTimes{StartTimeout: longTime}})
	}
	b := start(t, servers...)
	warnings := func() (all []event.Warning) {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, e := range b.events {
			if w, ok := e.(event.Warning); ok {
				all = append(all, w)
			}
		}
		return all
	}
	failed := func() (n int) {
		for _, st := range b.all.List() {
			if st.State == Failed {
				n++
			}
		}
		return n
	}
	b.until("told", func() bool { return failed() == 5 && len(warnings()) > 0 })
	if all := warnings(); len(all) > 2 || !strings.Contains(all[0].Text, "/nonexistent/server") || !strings.Contains(all[0].NextStep, "buddy mcp check") {
		t.Errorf("%+v", all)
	}
	if w := failureWarning([]string{"a (x)", "b (x)", "c (x)", "d (x)", "e (x)"}); w.Text != "5 MCP servers failed: a (x), b (x), c (x) and 2 more" {
		t.Error(w.Text)
	}
}

// TestAllAreReadyOnce: MCPReady is published once, also if the last server fails before all were started, and if all
// are off.
func TestAllAreReadyOnce(t *testing.T) {
	for _, order := range [][]string{{starting}, {"a", starting}, {starting, "a"}, {"a", starting, "b"}, {"a", "b", starting}, {"a", starting, "a"}} {
		published := 0
		all := New(Options{State: t.TempDir(), Publish: func(event.Event) { published++ }})
		for _, name := range order {
			all.pending[name] = true
		}
		for i, name := range order {
			if all.settle(name); published > 0 && len(all.pending) > 0 {
				t.Errorf("%q: said after %q", order, order[:i+1])
			}
		}
		if published != 1 {
			t.Errorf("%q: said %d times", order, published)
		}
		all.Close()
	}
}

// A call planned while its server was starting runs if the server is ready before the call.
func TestCallPlannedBeforeItsServerWasReady(t *testing.T) {
	b := start(t, hostileServer("good"))
	pending := &pendingTool{server: b.all.servers[0], name: "mcp__good__echo"}
	call := tools.Call{ID: "c", Name: pending.name, Arguments: `{"text":"a"}`}
	act, err := pending.Plan(call)
	if err != nil || act.Definition != "" {
		t.Fatal(act, err)
	}
	call.Planned = act
	b.settled()
	for _, one := range b.deferred.All() {
		if one.Definition().Name == pending.name {
			if res := one.Run(t.Context(), call); res.IsError || res.Content != "a" {
				t.Errorf("%+v", res)
			}
			return
		}
	}
	t.Errorf("no tool %s", pending.name)
}
