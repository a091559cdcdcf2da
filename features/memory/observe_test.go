package memory

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
)

// script publishes the events of a session.
type script struct {
	t testing.TB
	s *Store
	n int
}

func (p *place) play(session string) *script { return &script{t: p.t, s: p.store(session)} }

func (x *script) happens(all ...event.Event) {
	for _, e := range all {
		x.s.Observe(event.Envelope{Session: x.s.o.Session, Time: x.s.o.Now().UnixMilli(), Payload: e})
	}
	x.s.Flush(x.t.Context())
}

func (x *script) call(act action.Action) string {
	x.n++
	id := fmt.Sprintf("call_%d", x.n)
	x.happens(event.ToolRequested{CallID: id, Name: act.Tool, Arguments: "{}", Action: act, Target: act.Target})
	return id
}

func shell(command string) action.Action {
	return action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: command}
}

// gives makes a call with a result.
func (x *script) gives(act action.Action, result string) {
	id := x.call(act)
	x.happens(event.ToolResult{CallID: id, Name: act.Tool, Result: result, Tail: result})
}

// denies makes a call that the person denies.
func (x *script) denies(act action.Action, reason string) {
	id := x.call(act)
	x.happens(
		event.ApprovalAsked{ID: "a" + id, CallID: id, Action: act},
		event.ApprovalAnswered{ID: "a" + id, CallID: id, Decision: event.Deny, By: "user", Reason: reason},
		event.ToolResult{CallID: id, Name: act.Tool, Result: "The user denied this; nothing ran.", IsError: true},
	)
}

// edits makes a call that the person changes.
func (x *script) edits(act action.Action, command string) {
	id := x.call(act)
	now := act
	now.Command = command
	x.happens(
		event.ApprovalAsked{ID: "a" + id, CallID: id, Action: act},
		event.ApprovalAnswered{ID: "a" + id, CallID: id, Decision: event.Edit, By: "user", Args: "{}"},
		event.ToolRequested{CallID: id, Name: act.Tool, Arguments: "{}", Action: now, Target: now.Target},
		event.ToolResult{CallID: id, Name: act.Tool, Result: "it ran as it was changed"},
	)
}

// undoes makes calls and undoes their changes at once; it returns their ids.
func (x *script) undoes(all ...action.Action) (ids []string) {
	for _, act := range all {
		x.gives(act, "edited the file")
		ids = append(ids, fmt.Sprintf("call_%d", x.n))
	}
	x.happens(event.FileRestored{Calls: ids})
	return ids
}

func (x *script) records(kind string) (some []Record) {
	x.t.Helper()
	all, _, err := observed{x.s.o.Dir}.read(keepAll)
	if err != nil {
		x.t.Fatal(err)
	}
	for _, r := range all {
		if r.Kind == kind {
			some = append(some, r)
		}
	}
	return some
}

func TestResultsOfWhichSizeAreObserved(t *testing.T) {
	for size, want := range map[int]int{0: 0, 9: 0, 10: 0, 11: 1, 4999: 1, 5000: 0, 5001: 0} {
		x := newPlace(t).play("s1")
		x.gives(shell("cat a"), strings.Repeat("a", size))
		got := x.records(observation)
		if len(got) != want {
			t.Errorf("%d bytes: %d observations", size, len(got))
		}
		for _, r := range got {
			if len([]rune(r.Text)) > MaxText || r.Source != "tool:run_shell" || r.Session != "s1" || r.Call != "call_1" || r.Target != "local" {
				t.Errorf("%+v", r)
			}
		}
	}
}

// The record of a written file is the tool's message.
func TestWhatIsKeptOfAWrittenFile(t *testing.T) {
	x := newPlace(t).play("s1")
	x.gives(action.Action{Kind: action.FileWrite, Tool: "write_file", Path: "/w/a.txt"}, "Wrote 17 bytes to a.txt")
	if got := x.records(observation); len(got) != 1 || got[0].Text != "Wrote 17 bytes to a.txt" {
		t.Errorf("%+v", got)
	}
}

// Only successful output of tools on this machine or a target is observed.
func TestWhatIsNotObserved(t *testing.T) {
	one := 1
	for name, c := range map[string]struct {
		act    action.Action
		result event.ToolResult
		want   int
	}{
		"a command":          {shell("make"), event.ToolResult{Tail: "all is well here"}, 1},
		"a file":             {action.Action{Kind: action.FileRead, Path: "/x"}, event.ToolResult{Tail: "all is well here"}, 1},
		"a failure":          {shell("make"), event.ToolResult{Tail: "all is not well", IsError: true}, 0},
		"an exit code":       {shell("make"), event.ToolResult{Tail: "all is not well", ExitCode: &one}, 0},
		"a server":           {action.Action{Kind: action.MCP}, event.ToolResult{Tail: "all is well here"}, 0},
		"a page":             {action.Action{Kind: action.Network}, event.ToolResult{Tail: "all is well here"}, 0},
		"a browser":          {action.Action{Kind: action.Browser}, event.ToolResult{Tail: "all is well here"}, 0},
		"a subagent":         {action.Action{Kind: action.Internal}, event.ToolResult{Tail: "all is well here"}, 0},
		"anything":           {action.Action{Kind: action.Generic}, event.ToolResult{Tail: "all is well here"}, 0},
		"what a hook put in": {shell("make"), event.ToolResult{Tail: "all is well here", Original: "nothing is"}, 0},
	} {
		x := newPlace(t).play("s1")
		id := x.call(c.act)
		c.result.CallID = id
		x.happens(c.result)
		if got := len(x.records(observation)); got != c.want {
			t.Errorf("%s: %d observations", name, got)
		}
	}
}

// A call that a hook changed shows what the hook wants, so it is not observed.
func TestCallsThatHooksChangedAreNotObserved(t *testing.T) {
	x := newPlace(t).play("s1")
	id := x.call(shell("make"))
	x.happens(event.ToolRequested{CallID: id, Name: "run_shell", Action: shell("make evil")}, event.ToolResult{CallID: id, Name: "run_shell", Result: "all is well here"})
	if len(x.records(observation))+len(x.records(correction)) != 0 {
		t.Error("it was observed")
	}
}

func TestCorrections(t *testing.T) {
	p := newPlace(t)
	x := p.play("s1")
	x.denies(shell("npm install left-pad"), "use pnpm")
	x.edits(shell("npm run build"), "pnpm run build")
	file := action.Action{Kind: action.FileWrite, Tool: "edit_file", Target: "local", Path: "/shop/gen/x.go"}
	x.gives(file, "edited the file")
	x.happens(event.FileRestored{Calls: []string{"call_3", "unknown"}})
	x.denies(shell("git push"), " ") // an empty reason
	id := x.call(shell("git push"))  // answered by somebody else
	x.happens(event.ApprovalAnswered{ID: "a", CallID: id, Decision: event.Deny, By: "policy", Reason: "mode plan"})
	var got []string
	for _, r := range x.records(correction) {
		got = append(got, r.Source+"|"+r.Original+"|"+r.Corrected.Corrected+"|"+r.Context)
		if r.Session != "s1" || r.Call == "" || !r.Time.Equal(p.now) {
			t.Errorf("%+v", r)
		}
	}
	want := "denied:run_shell|npm install left-pad|use pnpm|run_shell: npm install\n" +
		"edited:run_shell|npm run build|pnpm run build|run_shell: npm run\n" +
		"undone:edit_file|edit_file /shop/gen/x.go||edit_file /shop/gen/x.go"
	if strings.Join(got, "\n") != want {
		t.Errorf("corrections\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

// The oldest records are dropped, and the file is rarely rewritten.
func TestTheOldestGo(t *testing.T) {
	p := newPlace(t)
	x := p.play("s1")
	x.gives(shell("true"), "the very first one")
	o := observed{x.s.o.Dir}
	many := make([]Record, 0, maxLines)
	for i := range maxLines - 2 {
		kind := observation
		if i%10 == 0 {
			kind = correction
		}
		many = append(many, Record{Kind: kind, ID: fmt.Sprintf("o-%d", i), Text: "x", Corrected: &Corrected{}})
	}
	many = append(many, Record{Kind: used, IDs: []string{"o-0", many[len(many)-1].ID}})
	if err := o.append(many...); err != nil {
		t.Fatal(err)
	}
	y := p.play("s2")
	y.gives(shell("true"), "the last one of all")
	if n := len(y.records(observation)); n != MaxObservations {
		t.Errorf("%d observations", n)
	}
	if n := len(y.records(correction)); n != MaxCorrections {
		t.Errorf("%d corrections", n)
	}
	if last := y.records(observation)[MaxObservations-1]; last.Text != "the last one of all" {
		t.Errorf("the last is %+v", last)
	}
	if kept := y.records(used); len(kept) != 1 || len(kept[0].IDs) != 1 {
		t.Errorf("used: %+v", kept)
	}
	before, _ := os.Stat(o.path())
	y.gives(shell("true"), "and one after that")
	after, _ := os.Stat(o.path())
	if !os.SameFile(before, after) {
		t.Error("one more record rewrote the file")
	}
}

// Half a line of a killed process is skipped.
func TestHalfALine(t *testing.T) {
	p := newPlace(t)
	x := p.play("s1")
	x.gives(shell("true"), "the very first one")
	path := observed{x.s.o.Dir}.path()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(data, `{"kind":"observation","id":"o-`...), 0o600); err != nil {
		t.Fatal(err)
	}
	p.play("s2").gives(shell("true"), "after the power came back")
	if got := x.records(observation); len(got) != 2 || got[1].Text != "after the power came back" {
		t.Errorf("%+v", got)
	}
}

// A link that came with a repository is not followed.
func TestObservedFileIsNoLink(t *testing.T) {
	p := newPlace(t)
	dir := filepath.Join(p.project, ".buddyx/memory")
	victim := filepath.Join(p.home, "victim")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(victim, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, filepath.Join(dir, observedFile)); err != nil {
		t.Fatal(err)
	}
	p.play("s1").gives(shell("true"), "the very first one")
	if data, _ := os.ReadFile(victim); len(data) != 0 {
		t.Errorf("written through the link: %s", data)
	}
}

// secrets returns a text with a secret, in forms that tools print and people type.
func secrets(r *rand.Rand) (text, secret string) {
	const letters = "abcdefghjkmnpqrstuvwxyzABCDEFGHJKMNPQRSTUVWXYZ0123456789"
	var b strings.Builder
	for range 24 {
		b.WriteByte(letters[r.IntN(len(letters))])
	}
	secret = "k7" + b.String() + "9Qz"
	forms := []string{
		"export DB_PASSWORD=%s", `{"api_key": "%s"}`, "Authorization: Bearer %s", "postgres://ann:%s@db/x", "curl -u ann:%s https://x.example",
		"x --password %s y", "password: %s", "GITHUB_TOKEN=ghp_%s0123456789", "Always use %s as the password", "the random word %s stands alone",
	}
	return fmt.Sprintf(forms[r.IntN(len(forms))], secret), secret
}

// No secret in results, denials, edits, prompts and entries is stored in a file, wherever the text is cut.
func TestNoSecretIsInAnyFile(t *testing.T) {
	p := newPlace(t)
	x := p.play("s1")
	r := rand.New(rand.NewPCG(1, 2))
	var all []string
	for i := range 150 {
		text, secret := secrets(r)
		all = append(all, secret)
		text = strings.Repeat("word ", r.IntN(45)) + text
		switch i % 6 {
		case 0:
			x.gives(shell("cat x"), "some output: "+text)
		case 1:
			x.denies(shell("npm install"), text)
		case 2:
			x.edits(shell("run "+text), "run it "+text)
		case 3:
			x.happens(event.PromptSubmitted{Text: "Always do it. " + "Never " + text + "."})
		case 4:
			_, _ = x.s.Add(t.Context(), Draft{Text: text, Note: Note{"by:" + text}}) // texts that are too long are refused
		case 5:
			_, _ = x.s.Propose(t.Context(), Draft{Text: text}, "model")
			_, _ = x.s.Remember(t.Context(), Folder, Denied{Action: shell(text), Reason: text})
		}
	}
	x.gives(shell("echo"), "the value hush-hush-1234 that the session knows")
	if _, err := x.s.Distill(t.Context()); err != nil {
		t.Fatal(err)
	}
	all = append(all, "hush-hush-1234")
	files := 0
	err := filepath.WalkDir(filepath.Dir(p.home), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		for _, s := range all {
			if strings.Contains(string(data), s[:12]) {
				t.Errorf("%s has %s: %s", path, s, lineWith(string(data), s[:12]))
				return nil
			}
		}
		return err
	})
	if err != nil || files < 3 {
		t.Fatalf("%d files were looked at: %v", files, err)
	}
	if n := len(x.records(observation)) + len(x.records(correction)) + len(x.records(remark)) + len(x.records(proposal)); n < 80 || len(entries(t, x.s)) < 10 {
		t.Errorf("only %d records and %d entries were written", n, len(entries(t, x.s)))
	}
}

// Observe does not wait for the lock, and records are on the disk soon after.
func TestObservingDoesNotWaitForTheLock(t *testing.T) {
	p := newPlace(t)
	s := p.store("s1")
	unlock, err := observed{s.o.Dir}.lock()
	if err != nil {
		t.Fatal(err)
	}
	act := shell("true")
	for i := range 3 * maxQueued {
		id := fmt.Sprint(i)
		s.Observe(event.Envelope{Payload: event.ToolRequested{CallID: id, Name: "run_shell", Action: act}})
		s.Observe(event.Envelope{Payload: event.ToolResult{CallID: id, Name: "run_shell", Tail: "some output of it"}})
	}
	if n := len(s.recorder.calls); n > maxDone {
		t.Errorf("%d calls are held", n)
	}
	unlock()
	s.Flush(t.Context())
	all, _, err := observed{s.o.Dir}.read(keepAll)
	if err != nil || len(all) < maxQueued || len(all) > 2*maxQueued {
		t.Errorf("%d records: %v", len(all), err)
	}
}

func BenchmarkObserve(b *testing.B) {
	s := Open(Options{Dir: b.TempDir(), Session: "s1"})
	act, result := shell("go test ./..."), strings.Repeat("ok  \tbuddy/features/memory\t0.012s\n", 40)
	for i := 0; b.Loop(); i++ {
		id := fmt.Sprint(i)
		s.Observe(event.Envelope{Payload: event.ToolRequested{CallID: id, Name: "run_shell", Action: act}})
		s.Observe(event.Envelope{Payload: event.ToolResult{CallID: id, Name: "run_shell", Result: result}})
	}
	s.Flush(b.Context())
}
