package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/model/modeltest"
	"buddy/sessions"
)

var plainCrashes = flag.Int("plaincrashes", 3, "how often TestCrashOfPlans and TestCrashOfReviews kill the program")

// TestCrashOfPlans kills the program while plans are written, shown, decided and carried out. A decision is never asked
// for again, and is carried out once: plan mode ends or continues, the plan's file stays or is removed, the model reads
// the decision, every prompt has one answer, and no command runs in plan mode or twice.
func TestCrashOfPlans(t *testing.T) {
	t.Parallel()
	crash(t, *plainCrashes, func(c *crasher) scene {
		x := &plainCrasher{crasher: c}
		x.env = append(x.env, "EDITOR=echo more >>")
		x.serve(x.planner)
		x.replies = []reaction{{"to keep planning", x.decision}}
		x.next = func() string { return "/plan " + x.prompt() }
		return scene{x.run, x.checkPlans, x.checkAnswers}
	})
}

// TestCrashOfReviews kills the program while changes are reviewed. Every review ends once, with its finding or as
// interrupted, and the main agent reads every finding once.
func TestCrashOfReviews(t *testing.T) {
	t.Parallel()
	crash(t, *plainCrashes, func(c *crasher) scene {
		x := &plainCrasher{crasher: c}
		x.serve(x.reviewer)
		x.commit()
		x.replies = []reaction{{"1 finding in 1 changed file\n1.", x.prompt}, {" failed: interrupted", x.prompt}}
		x.next = x.change
		return scene{x.run, x.checkReviews, x.checkFindings}
	})
}

// plainCrasher is a crasher that acts as a person in plain mode, on pipes. A run without a kill ends after two answers.
type plainCrasher struct {
	*crasher
	replies []reaction
	next    func() string // the line after an answer
	asked   int           // number of the newest prompt
	changed int           // number of the newest change to review
}

// reaction holds a printed text and what a person types after it.
type reaction struct {
	heard string
	line  func() string
}

// reader reacts to what a program prints.
type reader struct {
	all       []byte
	from      int // bytes of all that had a reaction
	reactions []reaction
	in        io.Writer
	reacted   func() // called before each reaction
}

// Write reacts to the first text that has a reaction.
func (r *reader) Write(p []byte) (int, error) {
	r.all = append(r.all, p...)
	for _, re := range r.reactions {
		if i := bytes.Index(r.all[r.from:], []byte(re.heard)); i >= 0 {
			r.from += i + len(re.heard)
			r.reacted()
			_, _ = io.WriteString(r.in, re.line()+"\n") // the program may have been killed
		}
	}
	return len(p), nil
}

// run starts or resumes the session, and kills the program after a time or, as often, shortly after a line was typed.
func (x *plainCrasher) run(after time.Duration) {
	x.t.Helper()
	args := []string{"--config", "buddy.toml", "--model", "test"}
	if len(x.files()) > 0 {
		args = append([]string{"resume", "--last"}, args...)
	}
	cmd := exec.Command("buddy", args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = x.work, x.env, time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		x.t.Fatal(err)
	}
	answers := 0
	out := &reader{in: in, reacted: func() {}}
	out.reactions = append(x.replies, reaction{"press Enter to continue", func() string { return "" }}, reaction{"\nanswered-", func() string {
		if answers++; after == 0 && answers == 2 {
			_ = in.Close()
			return ""
		}
		return x.next()
	}})
	limit := after
	if limit == 0 {
		limit = time.Minute // the program hangs
	}
	if after > 0 && x.rng.IntN(2) == 0 {
		reactions := x.rng.IntN(4)
		out.reacted = func() {
			if reactions--; reactions < 0 {
				time.AfterFunc(after/100, func() { _ = cmd.Process.Kill() })
			}
		}
		limit = time.Minute
	}
	cmd.Stdout, cmd.Stderr = out, out
	began := time.Now()
	if err := cmd.Start(); err != nil {
		x.t.Fatal(err)
	}
	kill := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
	if line, ok := x.first(); ok {
		_, _ = io.WriteString(in, line+"\n") // the program may have been killed
	}
	err = cmd.Wait()
	kill.Stop()
	if after == 0 {
		x.typical = max(x.typical, time.Since(began))
	}
	if bytes.Contains(out.all, []byte("DATA RACE")) {
		x.t.Fatalf("%s", out.all)
	}
	if err != nil && (after == 0 || time.Since(began) > time.Minute) {
		x.t.Fatalf("a run that was not killed: %v\n%s\n%s", err, out.all, x.journals())
	}
}

// first returns the first line for a new process. ok is false if the session works by itself.
func (x *plainCrasher) first() (line string, ok bool) {
	answered, reviewed := true, true
	for _, env := range x.events() {
		switch p := env.Payload.(type) {
		case event.PromptSubmitted:
			if env.Branch == 0 {
				answered = false
			}
		case event.ModelMessage:
			answered = answered || !p.Partial && strings.HasPrefix(p.Message.Content, "answered-")
		case event.Notice:
			reviewed = reviewed && p.Code != event.ReviewStarted
		case event.ReviewFinished:
			reviewed = true
		}
	}
	if !answered || !reviewed {
		return "", false
	}
	return x.next(), true
}

// events returns the stored events of the only session; none before it is stored.
func (x *plainCrasher) events() []event.Envelope {
	x.t.Helper()
	files := x.files()
	if len(files) == 0 {
		return nil
	}
	return x.load(sessions.At(filepath.Dir(files[0])), strings.TrimSuffix(filepath.Base(files[0]), ".jsonl")).Events
}

// prompt returns the next prompt.
func (x *plainCrasher) prompt() string {
	x.asked++
	return fmt.Sprintf("prompt-%d", x.asked)
}

// decision returns an answer to a plan.
func (x *plainCrasher) decision() string {
	return []string{"1", "1", "more", "3", "edit"}[x.rng.IntN(5)]
}

// serve starts the model, which works in mode all.
func (x *plainCrasher) serve(script modeltest.Script) {
	x.t.Helper()
	x.crasher.serve(script)
	file, err := os.OpenFile(filepath.Join(x.work, "buddy.toml"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		x.t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // reported by WriteString
	if _, err := file.WriteString("[agent]\nmode = \"all\"\n"); err != nil {
		x.t.Fatal(err)
	}
}

// planner writes a plan, shows it until it is decided, carries it out with one command, and answers.
func (x *plainCrasher) planner(req modeltest.Request) modeltest.Answer {
	x.mu.Lock()
	defer x.mu.Unlock()
	var file, last string // the plan's file; the kind of the last call
	prompt, approved, over := 0, false, false
	for _, m := range req.Messages {
		if _, rest, ok := strings.Cut(m.Content, "Write the plan to "); ok {
			file, _, _ = strings.Cut(rest, " ")
		}
		switch n := numbers(`\bprompt-(\d+)\b`, m.Content); {
		case m.Role == model.User && len(n) > 0:
			prompt, last, approved, over = n[len(n)-1], "", false, false
		case m.Role == model.Tool:
			last, _, _ = strings.Cut(m.ToolCallID, "-")
			approved = approved || strings.HasPrefix(m.Content, event.PlanApprove)
			over = over || last == "run" || strings.HasPrefix(m.Content, event.PlanDiscard) || strings.Contains(m.Content, "not plan")
		}
	}
	slow := modeltest.Chunks{Bytes: 6, Every: 2 * time.Millisecond}
	x.calls++
	call := func(kind, tool string, args any) modeltest.Answer {
		text, _ := json.Marshal(args)
		return modeltest.Answer{slow, modeltest.Call{ID: fmt.Sprintf("%s-%d", kind, x.calls), Name: tool, Arguments: string(text)}}
	}
	switch {
	case over:
		return modeltest.Answer{slow, modeltest.Text(fmt.Sprintf("answered-%d.", prompt))}
	case approved:
		return modeltest.Answer{slow, shellCall(fmt.Sprintf("run-%d", x.calls), fmt.Sprintf("echo run-%d >> ran; sleep 0.0%d; echo out", x.calls, x.calls%6))}
	case last == "write":
		return call("exit", "use_tool", map[string]any{"name": "exit_plan", "args": map[string]any{}})
	default:
		return call("write", "write_file", map[string]any{"path": file, "content": fmt.Sprintf("plan-%d\n", x.calls), "why": "asked to"})
	}
}

// decided is the state of a call that shows a plan.
type decided struct {
	answer string // "": none yet
	edited string // the person's version
	ended  bool
}

// checkPlans makes the checks of crasher, and checks plan mode, decisions and their results.
func (x *plainCrasher) checkPlans() {
	x.t.Helper()
	x.check()
	shown := make(map[string]event.QuestionAsked) // by number of the question
	calls := make(map[string]*decided)
	const discarded = "discarded, and the model knows"
	planning, file, last := false, "", "" // last is the newest decision since the file was written
	wrong := func(env event.Envelope, what string) {
		x.t.Fatalf("event %d: %s\n%s", env.Seq, what, x.journals())
	}
	for _, env := range x.events() {
		switch p := env.Payload.(type) {
		case event.QuestionAsked:
			c := calls[p.CallID]
			switch {
			case c == nil:
				calls[p.CallID] = &decided{}
			case c.answer != "":
				wrong(env, "a plan is shown again after its decision "+c.answer)
			case c.edited != "" && c.edited != p.Text:
				wrong(env, "the person's version is lost")
			}
			shown[p.ID], file = p, p.Plan
		case event.QuestionAnswered:
			if c := calls[shown[p.ID].CallID]; p.Edited {
				c.edited = p.Text
			} else {
				c.answer = p.Text
				last = p.Text
			}
		case event.PlanEntered:
			if planning {
				wrong(env, "plan mode begins twice")
			}
			planning = true
		case event.PlanExited:
			if !planning || p.Approved != (last == event.PlanApprove) {
				wrong(env, fmt.Sprintf("plan mode ends (planning: %t) after the decision %q", planning, last))
			}
			planning = false
		case event.ModeChanged:
			if want := map[bool]string{true: "plan", false: "all"}[planning]; string(p.Mode) != want {
				wrong(env, "the mode is not "+want)
			}
		case event.ToolStarted:
			if p.Name == "run_shell" && planning {
				wrong(env, "a command runs in plan mode")
			}
			if p.Name == "write_file" {
				last = ""
			}
		case event.ToolResult:
			c := calls[p.CallID]
			if c == nil {
				break
			}
			want := map[string]string{event.PlanApprove: "approved\n", event.PlanDiscard: "discarded\n", "more": "keep planning: more\n"}[c.answer]
			if c.ended || c.answer == "" || !strings.HasPrefix(p.Result, want) || c.answer == event.PlanApprove && !strings.Contains(p.Result, c.edited) {
				wrong(env, "the result of the decision "+c.answer+" is "+p.Result)
			}
			if c.ended = true; planning != (c.answer == "more") {
				wrong(env, fmt.Sprintf("after the decision %s plan mode is %t", c.answer, planning))
			}
			if c.answer == event.PlanDiscard && last == c.answer {
				last = discarded
			}
		}
	}
	if file == "" {
		return
	}
	if _, err := os.Stat(file); last == discarded && err == nil || last == event.PlanApprove && err != nil {
		x.t.Fatalf("the plan's file after the decision %q: %v\n%s", last, err, x.journals())
	}
}

// checkAnswers verifies that each stored prompt has one answer.
func (x *plainCrasher) checkAnswers() {
	x.t.Helper()
	answers := make(map[string]int)
	for _, env := range x.events() {
		switch p := env.Payload.(type) {
		case event.PromptSubmitted:
			if n := strings.TrimPrefix(p.Text, "prompt-"); env.Branch == 0 && n != p.Text {
				answers["answered-"+n+"."] += 0
			}
		case event.ModelMessage:
			if !p.Partial && strings.HasPrefix(p.Message.Content, "answered-") {
				answers[p.Message.Content]++
			}
		}
	}
	for text, n := range answers {
		if n != 1 {
			x.t.Fatalf("%s is stored %d times\n%s", text, n, x.journals())
		}
	}
	x.t.Logf("%d of %d prompts were stored", len(answers), x.asked)
}

// commit creates a repository whose changes reviews find.
func (x *plainCrasher) commit() {
	x.t.Helper()
	for name, text := range map[string]string{"a.txt": "text\n", ".gitignore": "*\n"} {
		if err := os.WriteFile(filepath.Join(x.work, name), []byte(text), 0o600); err != nil {
			x.t.Fatal(err)
		}
	}
	for _, args := range []string{"init -q", "add -f a.txt", "-c user.name=a -c user.email=a@b commit -qm one"} {
		git := exec.Command("git", strings.Fields(args)...)
		git.Dir, git.Env = x.work, x.env
		if out, err := git.CombinedOutput(); err != nil {
			x.t.Fatalf("git %s: %v: %s", args, err, out)
		}
	}
}

// change changes the file and returns the command that reviews it.
func (x *plainCrasher) change() string {
	x.changed++
	if err := os.WriteFile(filepath.Join(x.work, "a.txt"), fmt.Appendf(nil, "change-%d\n", x.changed), 0o600); err != nil {
		x.t.Error(err)
	}
	return "/review"
}

// reviewer reads the changed file and reports a finding with the number of the change. It answers prompts at once.
func (x *plainCrasher) reviewer(req modeltest.Request) modeltest.Answer {
	slow := modeltest.Chunks{Bytes: 6, Every: 2 * time.Millisecond}
	last := lastOf(req, model.User)
	if n := numbers(`\bprompt-(\d+)\b`, last); len(n) > 0 {
		return modeltest.Answer{slow, modeltest.Text(fmt.Sprintf("answered-%d.", n[len(n)-1]))}
	}
	change := numbers(`\+change-(\d+)`, last)
	if len(change) != 1 {
		return modeltest.Answer{modeltest.Text("There is no change.")}
	}
	if req.Messages[len(req.Messages)-1].Role != model.Tool {
		return modeltest.Answer{slow, modeltest.Text("I will read it. "), modeltest.Call{ID: fmt.Sprintf("read-%d", change[0]), Name: "read_file", Arguments: `{"path":"a.txt"}`}}
	}
	return modeltest.Answer{slow, modeltest.Text(fmt.Sprintf(`{"findings":[{"severity":"high","file":"a.txt","line":1,"what":"finding-%d"}]}`, change[0]))}
}

// checkReviews makes the checks of crasher, and checks that each review ends once, unless it is the last, with one
// finding or as interrupted.
func (x *plainCrasher) checkReviews() {
	x.t.Helper()
	x.check()
	running := false
	seen := make(map[string]bool)
	for _, env := range x.events() {
		switch p := env.Payload.(type) {
		case event.Notice:
			if p.Code == event.ReviewStarted && running {
				x.t.Fatalf("event %d: the review before has not ended\n%s", env.Seq, x.journals())
			}
			running = running || p.Code == event.ReviewStarted
		case event.ReviewFinished:
			text := p.Problem
			if len(p.Findings) == 1 {
				text += p.Findings[0].Text
			}
			if !running || !strings.HasPrefix(text, "interrupted: ") && !strings.HasPrefix(text, "finding-") || seen[text] && p.Problem == "" {
				x.t.Fatalf("event %d: a review (running: %t) ends with %q and %d findings\n%s", env.Seq, running, text, len(p.Findings), x.journals())
			}
			running, seen[text] = false, true
		}
	}
}

// checkFindings verifies that the main agent has read each finding once.
func (x *plainCrasher) checkFindings() {
	x.t.Helper()
	x.checkAnswers()
	var history strings.Builder
	for _, req := range x.server.Requests() {
		if len(numbers(`\bprompt-(\d+)\b`, lastOf(req, model.User))) == 0 {
			continue
		}
		history.Reset() // only the newest request counts
		for _, m := range req.Messages {
			history.WriteString(m.Content)
		}
	}
	found := 0
	for _, env := range x.events() {
		p, ok := env.Payload.(event.ReviewFinished)
		if !ok || len(p.Findings) == 0 {
			continue
		}
		found++
		if n := len(numbers(`\b`+strings.Replace(p.Findings[0].Text, "-", `-(`, 1)+`)\b`, history.String())); n != 1 {
			x.t.Fatalf("the main agent has read %s %d times\n%s\n%s", p.Findings[0].Text, n, history.String(), x.journals())
		}
	}
	x.t.Logf("%d of %d reviews found something", found, x.changed)
}
