package host

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"buddy/agent/event"
	"buddy/app/client"
	"buddy/app/compose"
	"buddy/app/fswatch"
	"buddy/app/project"
	"buddy/app/show"
	"buddy/config"
)

// lists returns a predicate for lists of commands with or without a name.
func lists(name string, there bool) func(event.Event) bool {
	return func(e event.Event) bool {
		p, ok := e.(event.CommandsListed)
		return ok && there == slices.ContainsFunc(p.Commands, func(c event.CustomCommand) bool { return c.Name == name })
	}
}

// needsWatches skips a test that needs file watches where there are none.
func needsWatches(t *testing.T) {
	t.Helper()
	w, err := fswatch.New() // the host uses the same instance
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(w.Close)
}

// TestNewFilesAreSeen: a command that is added, changed, moved and removed while the session runs is offered
// accordingly, even in a new folder, and a later screen has it, too.
func TestNewFilesAreSeen(t *testing.T) {
	needsWatches(t)
	h := openHost(t, compose.Options{})
	v := look(t, h)
	v.until("what is built in", lists("review", true))
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(".claude/commands/hi.md", "Say hi")
	v.until("a new command", lists("hi", true))
	late := look(t, h)
	defer late.leave()
	hello, err := late.Hello(t.Context())
	if err != nil || !slices.ContainsFunc(hello.Open, func(env event.Envelope) bool { return lists("hi", true)(env.Payload) }) {
		t.Errorf("a screen that comes later does not know it: %v", err)
	}
	write(".claude/commands/hi.md", "---\ndescription: Greets\n---\nSay hi")
	v.until("its description", func(e event.Event) bool {
		p, ok := e.(event.CommandsListed)
		return ok && slices.ContainsFunc(p.Commands, func(c event.CustomCommand) bool { return c.Help == "Greets" })
	})
	write(".claude/commands/git/pr.md", "Look")
	v.until("a command in a new folder", lists("git:pr", true))
	if err := os.Rename(".claude/commands/git", ".claude/commands/hub"); err != nil {
		t.Fatal(err)
	}
	v.until("the folder's new name", lists("hub:pr", true))
	write(".buddy/skills/mine/SKILL.md", "Text")
	v.until("a skill", lists("mine", true))
	if err := os.RemoveAll(".buddy"); err != nil {
		t.Fatal(err)
	}
	v.until("that it is gone", lists("mine", false))
	write(".buddy/skills/mine/SKILL.md", "Text")
	v.until("that it is there again", lists("mine", true))
	v.leave()
}

// TestPluginLivesAndGoes: a plugin added while the session runs has its command; once the user trusts it, its hook and
// its server run; one changed byte ends both, and so does its removal.
func TestPluginLivesAndGoes(t *testing.T) {
	needsWatches(t)
	h := openHost(t, compose.Options{})
	v := look(t, h)
	v.until("what is built in", lists("review", true))
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(".buddy/plugins/tidy", name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pids := filepath.Join(t.TempDir(), "pids")
	write("hooks/hooks.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true guard"}]}]}}`)
	write(".mcp.json", `{"mcpServers": {"notes": {"command": "sh", "args": ["-c", "echo $$ >>`+pids+`; cat >/dev/null"]}}}`)
	write("commands/sweep.md", "Sweep")
	write(".claude-plugin/plugin.json", `{"name": "tidy"}`)
	v.until("its command", lists("tidy:sweep", true))
	server := func(state string) func(event.Event) bool {
		return func(e event.Event) bool {
			p, ok := e.(event.MCPServer)
			return ok && p.Server == "plugin_tidy_notes" && p.State == state
		}
	}
	hooked := func(there bool) { // once the last change has been read
		t.Helper()
		for late, right := time.Now().Add(time.Minute), false; !right; time.Sleep(10 * time.Millisecond) {
			list, err := client.Ask[show.Answer](t.Context(), v, client.Run{Words: []string{"hooks"}})
			if right = strings.Contains(list.String(), "true guard  Stop") == there; err != nil {
				t.Fatal(err)
			}
			if time.Now().After(late) {
				t.Fatalf("its hook is not there or not gone: want %v", there)
			}
		}
	}
	both := func(what string, one, other func(event.Event) bool) { // in any order
		t.Helper()
		a, b := false, false
		v.until(what, func(e event.Event) bool {
			a, b = a || one(e), b || other(e)
			return a && b
		})
	}
	trust := func() {
		t.Helper()
		checks, _, err := project.CheckParts(".", config.Config{})
		if err != nil || len(checks) != 1 {
			t.Fatal(checks, err)
		}
		if err := project.TrustStore().TrustParts(checks[0].Dir, checks[0].Part.Part); err != nil {
			t.Fatal(err)
		}
	}
	runs := 0
	began := func() (pid int) {
		t.Helper()
		runs++
		for late := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			text, _ := os.ReadFile(pids)
			if lines := strings.Fields(string(text)); len(lines) == runs {
				pid, _ = strconv.Atoi(lines[runs-1])
				return pid
			}
			if time.Now().After(late) {
				t.Fatalf("processes: %q, want %d", text, runs)
			}
		}
	}
	ended := func(pid int) {
		t.Helper()
		for late := time.Now().Add(time.Minute); syscall.Kill(pid, 0) == nil; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(late) {
				t.Fatal("the server runs")
			}
		}
	}
	hooked(false)
	if text, err := os.ReadFile(pids); err == nil {
		t.Errorf("its server ran before it was trusted: %s", text)
	}
	trust()
	v.until("its server", server("starting"))
	hooked(true)
	pid := began()

	write("README", "x")
	both("that its server is off and its command gone", server("off"), lists("tidy:sweep", false))
	hooked(false)
	ended(pid)
	trust()
	both("its server and its command again", server("starting"), lists("tidy:sweep", true))
	hooked(true)
	pid = began()

	if err := os.RemoveAll(".buddy/plugins/tidy"); err != nil {
		t.Fatal(err)
	}
	both("that its server and its command are gone", server("off"), lists("tidy:sweep", false))
	hooked(false)
	ended(pid)
	v.leave()
}

// TestAgentsAreOffered: completions after an @ include the subagents, marked as such, and those of new files.
func TestAgentsAreOffered(t *testing.T) {
	h := openHost(t, compose.Options{})
	v := look(t, h)
	defer v.leave()
	v.until("what is built in", lists("review", true))
	offered := func(query string) []string {
		t.Helper()
		reply, err := askProgram(t.Context(), h.program, client.Named{Query: query})
		if err != nil {
			t.Fatal(err)
		}
		return reply.(*client.FilesReply).Paths
	}
	for query, want := range map[string]string{"": "agent-explore agent-general agent-judge", "exp": "agent-explore", "agent-g": "agent-general", "none": ""} {
		got := offered(query)
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
}
