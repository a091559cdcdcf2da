package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/turn"
	"buddy/features/plan"
	"buddy/tools"
	"buddy/tools/basic"
	"buddy/tools/file"
	planning "buddy/tools/plan"
)

// planner is a session with the real file and plan tools, in its own folder.
type planner struct {
	dir, file string // the workspace, and the plan's file
	change    func(*Options)
}

func newPlanner(t *testing.T) *planner {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &planner{dir: dir, file: filepath.Join(dir, ".buddyx/sessions/s1/plan.md")}
}

// options adds the tools to a session; more are called through use_tool.
func (p *planner) options(t *testing.T, more ...tools.Tool) func(*Options) {
	ws, err := file.NewWorkspace(p.dir, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	ws.KeepPlan(file.NewPlan(p.file))
	deferred := tools.NewDeferred(append(more, planning.NewEnter(), planning.NewExit())...)
	all := append(file.Tools(ws), basic.NewTodo(), tools.NewUseTool(deferred))
	return func(o *Options) {
		o.Tools = tools.NewRegistry(all...)
		o.Policy.Workspace, o.Policy.Plan, o.Policy.Confined = p.dir, p.file, true
		o.Parts = []turn.Part{plan.Part(plan.File(p.file))}
		o.Model = windowed{o.Model.(*script), 1_000_000}
		if p.change != nil {
			p.change(o)
		}
	}
}

// planWrites is a call that writes a file.
func planWrites(path, content string) string {
	args, _ := json.Marshal(map[string]string{"path": path, "content": content, "why": "as planned"})
	return "w-" + filepath.Base(path) + " write_file " + string(args)
}

const (
	exits  = `x1 use_tool {"name":"exit_plan","args":{}}`
	enters = `e1 use_tool {"name":"enter_plan","args":{}}`
)

// planned returns the last plan dialog, and the number of dialogs.
func (s *session) planned() (q event.QuestionAsked, n int) {
	q, n = find[event.QuestionAsked](s)
	return q, n
}

// mode returns the mode that the header shows.
func (s *session) mode() string {
	m, _ := find[event.ModeChanged](s)
	return string(m.Mode)
}

// sentText returns everything that the model was sent, as one text.
func (s *session) sentText() string {
	var b strings.Builder
	for _, m := range s.request() {
		b.WriteString(string(m.Role) + ": " + m.Content + "\n")
	}
	return b.String()
}

// A plan is written, shown, returned with a remark, edited by the person, approved: the model gets the remark and the
// edited text, the steps become the list, and the earlier mode returns.
func TestPlanIsRemarkedEditedAndApproved(t *testing.T) {
	p := newPlanner(t)
	const first, second = "# Plan\n\none\n", "# Plan\n\ntwo\n\n```steps\n- {description: reproduce, tool: run_shell, risk: low}\n- {description: fix, depends_on: [1]}\n```\n"
	synctest.Test(t, func(t *testing.T) {
		s := start(t, p.options(t), says("", planWrites(p.file, first)), says("", exits), says("", planWrites("a.go", "x")), says("", exits), says("", planWrites("a.go", "x")), says("done"))
		s.do(event.SetMode{Mode: action.ModeEdits})
		time.Sleep(3 * time.Second)
		s.do(event.SetMode{Mode: action.ModePlan}, event.Submit{Text: "plan it"})
		if e, n := find[event.PlanEntered](s); n != 1 || e.File != p.file || e.Before != action.ModeEdits {
			t.Errorf("%d plans entered, %+v", n, e)
		}
		q, n := s.planned()
		if n != 1 || q.Plan != p.file || q.Text != first || q.CallID != "x1" {
			t.Fatalf("%d questions, %+v", n, q)
		}
		if _, n := find[event.ApprovalAsked](s); n != 0 {
			t.Errorf("%d approvals were asked for", n)
		}
		s.do(event.Answer{ID: q.ID, Text: "which test?"})
		if got := strings.Join(s.results(), "\n"); !strings.Contains(got, "keep planning: which test?\n[plan mode is still on") || !strings.Contains(got, "plan mode is still on") || !strings.Contains(got, "plan mode allows only reading") || s.mode() != "plan" {
			t.Errorf("after a remark, in mode %s, the model read %s", s.mode(), got)
		}
		q, _ = s.planned()
		s.do(event.Answer{ID: q.ID, Text: event.PlanEdit}) // nothing was edited: the dialog opens again
		again, n := s.planned()
		if n != 3 || again.Text != first {
			t.Fatalf("%d questions, %+v", n, again)
		}
		s.do(event.Answer{ID: again.ID, Text: second, Edited: true})
		q, n = s.planned()
		if data, _ := os.ReadFile(p.file); n != 4 || q.Text != second || string(data) != second {
			t.Fatalf("%d questions, the last %+v, the file %q", n, q, data)
		}
		s.do(event.Answer{ID: q.ID, Text: event.PlanApprove})
		if got, want := s.results()[3], "approved\n"+second+"\n[ ] reproduce\n[ ] fix\n["; !strings.HasPrefix(got, want) {
			t.Errorf("the model read %q, want %q", got, want)
		}
		if e, n := find[event.PlanExited](s); n != 1 || !e.Approved || e.Plan != second || len(e.Steps) != 2 || e.Steps[0].Tool != "run_shell" {
			t.Errorf("%d plans exited, %+v", n, e)
		}
		if data, err := os.ReadFile(filepath.Join(p.dir, "a.go")); string(data) != "x" || err != nil || s.mode() != "edits" {
			t.Errorf("in mode %s a.go has %q, %v", s.mode(), data, err)
		}
		s.stop()
	})
}

// After a plan the earlier mode returns. If its time limit ended meanwhile, its successor applies.
func TestModeAfterAPlan(t *testing.T) {
	for _, test := range []struct {
		name  string
		begun action.Mode // of the session
		set   []event.Command
		stood time.Duration // before planning
		wait  time.Duration // while planning
		want  string
	}{
		{"ask", "", nil, 0, 0, "ask"},
		{"strict", action.ModeStrict, nil, 0, 0, "strict"},
		{"edits", "", []event.Command{event.SetMode{Mode: action.ModeEdits}}, 3 * time.Second, 0, "edits"},
		{"edits for a moment", "", []event.Command{event.SetMode{Mode: action.ModeEdits}}, 2999 * time.Millisecond, 0, "ask"},
		{"edits with a prompt", "", []event.Command{event.SetMode{Mode: action.ModeEdits}, event.Submit{Text: "beside", Background: true}}, 0, 0, "edits"},
		{"all", "", []event.Command{event.SetMode{Mode: action.ModeAll}}, 3 * time.Second, 0, "all"},
		{"all for a while", "", []event.Command{event.SetMode{Mode: action.ModeAll, Duration: time.Hour}}, 3 * time.Second, time.Minute, "all"},
		{"all ran out", "", []event.Command{event.SetMode{Mode: action.ModeAll, Duration: time.Minute}}, 3 * time.Second, time.Hour, "ask"},
		{"all ran out in strict", action.ModeStrict, []event.Command{event.SetMode{Mode: action.ModeAll, Duration: time.Minute}}, 3 * time.Second, time.Hour, "strict"},
		{"all ran out before", "", []event.Command{event.SetMode{Mode: action.ModeAll, Duration: time.Nanosecond}}, time.Microsecond, time.Hour, "ask"},
		{"begun in plan", action.ModePlan, nil, 0, 0, "ask"},
		{"twice", "", []event.Command{event.SetMode{Mode: action.ModePlan}}, time.Hour, 0, "ask"},
	} {
		p := newPlanner(t)
		synctest.Test(t, func(t *testing.T) {
			p.change = func(o *Options) {
				if test.begun != "" {
					o.Mode = test.begun
				}
			}
			steps := []step{says("", planWrites(p.file, "plan")), says("", exits), says("done")}
			if len(test.set) > 1 { // one of them is a prompt
				steps = append([]step{says("ok")}, steps...)
			}
			s := start(t, p.options(t), steps...)
			s.do(test.set...)
			time.Sleep(test.stood)
			s.do(event.SetMode{Mode: action.ModePlan}, event.SetMode{Mode: action.ModePlan}, event.Submit{Text: "plan it"})
			if a, n := find[event.ApprovalAsked](s); n > 0 {
				t.Errorf("%s: asked about %+v", test.name, a)
			}
			time.Sleep(test.wait)
			q, n := s.planned()
			if _, entered := find[event.PlanEntered](s); n != 1 || entered != 1 {
				t.Fatalf("%s: %d questions, mode plan begun %d times: %s", test.name, n, entered, s.sentText())
			}
			s.do(event.Answer{ID: q.ID, Text: event.PlanApprove})
			real, _ := s.approvals.Mode()
			if s.mode() != test.want || string(real) != test.want {
				t.Errorf("%s: the header says %s, the mode is %s, want %s", test.name, s.mode(), real, test.want)
			}
			s.stop()
		})
	}
}

// Plan mode has no time limit, so it can't end without an approval.
func TestModePlanHasNoTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil)
		s.do(event.SetMode{Mode: action.ModePlan, Duration: time.Minute})
		if e, _ := find[event.Error](s); !strings.Contains(e.Text, "no time limit") || s.mode() != "ask" {
			t.Errorf("in mode %s: %+v", s.mode(), e)
		}
		s.stop()
	})
}

// An approval is for one plan: a second plan in the session starts again in plan mode, and is approved or discarded
// separately.
func TestSecondPlanIsAPlanOfItsOwn(t *testing.T) {
	p := newPlanner(t)
	synctest.Test(t, func(t *testing.T) {
		s := start(t, p.options(t), says("", planWrites(p.file, "first")), says("", exits), says("", enters), says("", planWrites("a.go", "x")),
			says("", planWrites(p.file, "second")), says("", `x2 exit_plan {}`), says("I see"))
		s.do(event.SetMode{Mode: action.ModePlan}, event.Submit{Text: "plan it"})
		q, _ := s.planned()
		s.do(event.Answer{ID: q.ID, Text: event.PlanApprove})
		a, n := find[event.ApprovalAsked](s)
		if n != 1 || a.Action.Kind != action.EnterPlan || s.mode() != "ask" {
			t.Fatalf("in mode %s %d approvals, %+v", s.mode(), n, a)
		}
		s.do(event.AnswerApproval{ID: a.ID, Decision: event.Once})
		q, n = s.planned()
		if _, err := os.Stat(filepath.Join(p.dir, "a.go")); n != 2 || q.Text != "second" || err == nil || s.mode() != "plan" {
			t.Fatalf("in mode %s %d questions, %+v, a.go %v", s.mode(), n, q, err)
		}
		s.do(event.Answer{ID: q.ID, Text: event.PlanDiscard})
		e, n := find[event.PlanExited](s)
		if _, err := os.Stat(p.file); n != 2 || e.Approved || e.Plan != "" || err == nil || s.mode() != "ask" {
			t.Errorf("in mode %s, %d exits, %+v, the file %v", s.mode(), n, e, err)
		}
		if got := s.results(); !strings.Contains(got[len(got)-1], "discarded\n[") {
			t.Errorf("the model read %s", got[len(got)-1])
		}
		s.stop()
	})
}

// An invalid plan is rejected with a message to the model, without a dialog.
func TestWhatIsNoPlanIsNotShown(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"no file", "", "there is no plan yet: write it to "},
		{"huge", strings.Repeat("x\n", plan.MaxBytes), "more than 65536 bytes"},
		{"cycle", "```steps\n- {description: a, depends_on: [2]}\n- {description: b, depends_on: [1]}\n```\n", "cycle: 1 → 2 → 1"},
		{"21 steps", "```steps\n" + strings.Repeat("- {description: a}\n", 21) + "```\n", "there are 21, at most 20 are allowed"},
	}
	for _, test := range tests {
		p := newPlanner(t)
		synctest.Test(t, func(t *testing.T) {
			s := start(t, p.options(t), says("", exits), says("ok"))
			if test.text != "" {
				if err := plan.File(p.file).Replace("x"); err == nil {
					t.Fatal("the folder is there already")
				}
				if err := os.MkdirAll(filepath.Dir(p.file), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(p.file, []byte(test.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s.do(event.SetMode{Mode: action.ModePlan}, event.Submit{Text: "go"})
			if _, n := s.planned(); n != 0 || !strings.Contains(s.results()[0], test.want) || s.mode() != "plan" {
				t.Errorf("%s: %d questions in mode %s, the model read %s", test.name, n, s.mode(), s.results()[0])
			}
			s.stop()
		})
	}
}

// Outside plan mode exit_plan fails; inside it enter_plan changes nothing and asks nobody.
func TestPlanToolsInTheWrongMode(t *testing.T) {
	p := newPlanner(t)
	synctest.Test(t, func(t *testing.T) {
		s := start(t, p.options(t), says("", exits), says("", enters), says("ok"), says("", enters), says("ok"))
		s.do(event.Submit{Text: "go"})
		if !strings.Contains(s.results()[0], "mode is ask, not plan") {
			t.Errorf("the model read %q", s.results())
		}
		a, _ := find[event.ApprovalAsked](s)
		s.do(event.AnswerApproval{ID: a.ID, Decision: event.Deny})
		if s.mode() != "ask" || !strings.Contains(s.results()[1], "denied") {
			t.Errorf("in mode %s the model read %q", s.mode(), s.results())
		}
		s.do(event.SetMode{Mode: action.ModePlan}, event.Submit{Text: "again"})
		_, asked := find[event.ApprovalAsked](s)
		if _, n := find[event.PlanEntered](s); n != 1 || asked != 1 || !strings.Contains(s.results()[2], "plan mode is already on") {
			t.Errorf("%d times entered, %d approvals, the model read %q", n, asked, s.results())
		}
		s.stop()
	})
}

// Background tasks neither start nor end plan mode, which applies to them as well.
func TestBackgroundTasksHaveNoPartInThePlan(t *testing.T) {
	p := newPlanner(t)
	synctest.Test(t, func(t *testing.T) {
		s := start(t, p.options(t), says("", planWrites("a.go", "x")), says("", planWrites(p.file, "plan")), says("", exits), says("ok"))
		s.do(event.SetMode{Mode: action.ModePlan}, event.Submit{Text: "beside", Background: true})
		got := strings.Join(s.results(), "\n")
		if _, n := s.planned(); n != 0 || !strings.Contains(got, "plan mode allows only reading") || !strings.Contains(got, "belongs to the main conversation") || s.mode() != "plan" {
			t.Errorf("%d questions in mode %s: the model read %s", n, s.mode(), got)
		}
		s.stop()
	})
}

// Cancelling during a plan dialog changes nothing: not the mode, not the file, and no decision is stored.
func TestPlanIsCancelled(t *testing.T) {
	p := newPlanner(t)
	synctest.Test(t, func(t *testing.T) {
		s := start(t, p.options(t), says("", planWrites(p.file, "plan")), says("", exits), says("", exits), says("done"))
		s.do(event.SetMode{Mode: action.ModePlan}, event.Submit{Text: "go"})
		q, _ := s.planned()
		s.do(event.Cancel{})
		a, n := find[event.QuestionAnswered](s)
		if _, exits := find[event.PlanExited](s); n != 1 || a.By != "cancel" || exits != 0 || s.mode() != "plan" {
			t.Errorf("%d answers, %+v, %d exits, mode %s", n, a, exits, s.mode())
		}
		s.do(event.Answer{ID: q.ID, Text: event.PlanApprove}) // too late
		if _, exits := find[event.PlanExited](s); exits != 0 || s.mode() != "plan" {
			t.Errorf("an answer after the end was taken: mode %s", s.mode())
		}
		s.do(event.Submit{Text: "once more"})
		q, _ = s.planned()
		s.do(event.Answer{ID: q.ID, Text: event.PlanApprove})
		if e, n := find[event.PlanExited](s); n != 1 || e.Plan != "plan" || s.mode() != "ask" {
			t.Errorf("%d exits, %+v, mode %s", n, e, s.mode())
		}
		s.stop()
	})
}

// A session that ended in plan mode resumes in it, whatever mode the next process starts with, unless the person
// chose that mode; a shown plan is shown again, and the mode after the plan is the stricter of the two.
func TestResumeInModePlan(t *testing.T) {
	p := newPlanner(t)
	var stored []event.Envelope
	synctest.Test(t, func(t *testing.T) {
		s := start(t, p.options(t), says("", planWrites(p.file, "plan")), says("", exits))
		s.do(event.SetMode{Mode: action.ModeEdits})
		time.Sleep(3 * time.Second)
		s.do(event.SetMode{Mode: action.ModePlan}, event.Submit{Text: "go"})
		stored = s.mem.events // as after a crash: the plan dialog is open
		s.stop()
	})
	for _, test := range []struct {
		begun action.Mode
		asked bool
		want  string // mode, and the one after approval
	}{
		{action.ModeAsk, false, "plan ask"},
		{action.ModeAll, false, "plan edits"},
		{action.ModeStrict, false, "plan strict"},
		{action.ModePlan, true, "plan ask"},
		{action.ModeEdits, true, "edits"},
	} {
		synctest.Test(t, func(t *testing.T) {
			p.change = func(o *Options) { o.Mode, o.ModeAsked, o.Replay = test.begun, test.asked, stored }
			s := start(t, p.options(t), says("ok"))
			got := s.mode()
			if q, n := s.planned(); got == "plan" {
				if n != 1 || q.Text != "plan" {
					t.Errorf("%s: %d questions, %+v", test.begun, n, q)
				}
				if _, n := find[event.PlanEntered](s); n != 0 {
					t.Errorf("%s: mode plan was begun again", test.begun)
				}
				s.do(event.Answer{ID: q.ID, Text: event.PlanApprove})
				got += " " + s.mode()
			} else if e, n := find[event.PlanExited](s); n != 1 || e.Approved {
				t.Errorf("%s: %d exits, %+v", test.begun, n, e)
			}
			if got != test.want {
				t.Errorf("begun with %s: modes %s, want %s", test.begun, got, test.want)
			}
			s.stop()
		})
	}
}

// A decision about a plan is carried out by the next process, wherever the journal ends after it: the plan is not shown
// again, plan mode ends once, and the model reads the decision.
func TestPlanDecidedBeforeACrash(t *testing.T) {
	for decision, read := range map[string]string{event.PlanApprove: "approved\nplan", event.PlanDiscard: "discarded", "more": "keep planning: more"} {
		p := newPlanner(t)
		var stored []event.Envelope
		synctest.Test(t, func(t *testing.T) {
			s := start(t, p.options(t), says("", planWrites(p.file, "plan")), says("", exits), says("done"))
			s.do(event.SetMode{Mode: action.ModePlan}, event.Submit{Text: "go"})
			q, _ := s.planned()
			s.do(event.Answer{ID: q.ID, Text: decision})
			stored = slices.Clone(s.mem.events)
			s.stop()
		})
		from := slices.IndexFunc(stored, func(env event.Envelope) bool { _, ok := env.Payload.(event.QuestionAnswered); return ok })
		for n := from + 1; ; n++ {
			if r, ended := stored[n].Payload.(event.ToolResult); ended && r.CallID == "x1" {
				break
			}
			synctest.Test(t, func(t *testing.T) {
				p.change = func(o *Options) { o.Replay = stored[:n] }
				s := start(t, p.options(t), says("ok"))
				s.do()
				if _, asked := s.planned(); asked != 0 {
					t.Errorf("%s, killed after %T: the plan is shown again", decision, stored[n-1].Payload)
				}
				if got := s.results(); len(got) != 2 || !strings.HasPrefix(got[1], read) {
					t.Errorf("%s, killed after %T: the model read %q", decision, stored[n-1].Payload, got)
				}
				exits, want := 0, map[string]string{event.PlanApprove: "1 ask", event.PlanDiscard: "1 ask"}[decision]
				for _, env := range append(stored[:n:n], s.mem.events...) {
					if _, ok := env.Payload.(event.PlanExited); ok {
						exits++
					}
				}
				if got := fmt.Sprintf("%d %s", exits, s.mode()); got != cmp.Or(want, "0 plan") {
					t.Errorf("%s, killed after %T: exits and mode are %s", decision, stored[n-1].Payload, got)
				}
				s.stop()
			})
		}
	}
}

// Without a person the plan is the answer: it ends the exchange, approves nothing and stays in plan mode.
func TestPlanWithoutAPerson(t *testing.T) {
	p := newPlanner(t)
	o := Options{Model: &script{steps: []step{says("", planWrites(p.file, "the plan")), says("", exits), says("never")}}, Mode: action.ModePlan}
	p.options(t)(&o)
	r := New(o)
	res, err := r.RunText(t.Context(), "go")
	if mode, _ := r.approvals.Mode(); err != nil || res.Response != "the plan" || res.Turns != 2 || mode != action.ModePlan {
		t.Errorf("%q after %d turns in mode %s, %v", res.Response, res.Turns, mode, err)
	}
	if err := r.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// The full plan mode reminder comes first, a short one after every fifth answer, the full one again after five short
// ones, and one at the end. A new process continues the count.
func TestRemindersOfModePlan(t *testing.T) {
	p := newPlanner(t)
	said := func(msgs []model.Message) string {
		var b strings.Builder
		for _, m := range msgs {
			switch {
			case strings.Contains(m.Content, "Plan mode is on."):
				b.WriteString("F")
			case strings.Contains(m.Content, "Plan mode is still on"):
				b.WriteString("s")
			case strings.Contains(m.Content, "Plan mode is over"):
				b.WriteString("X")
			case m.Role == model.Assistant:
				b.WriteString(".")
			}
		}
		return b.String()
	}
	var stored []event.Envelope
	talk := func(s *session, n int) {
		for range n {
			s.do(event.Submit{Text: "go on"})
		}
	}
	synctest.Test(t, func(t *testing.T) {
		s := start(t, p.options(t), answers(14)...)
		s.do(event.SetMode{Mode: action.ModePlan})
		talk(s, 14)
		stored = s.mem.events
		s.stop()
	})
	synctest.Test(t, func(t *testing.T) {
		p.change = func(o *Options) { o.Replay, o.MaxIterations = stored, 0 }
		s := start(t, p.options(t), answers(20)...)
		talk(s, 14)
		s.do(event.SetMode{Mode: action.ModeAsk})
		talk(s, 6)
		const want = "F.....s.....s.....s.....s.....F...X....."
		if got := said(s.request()); got != want {
			t.Errorf("told %s, want %s", got, want)
		}
		s.stop()
	})
}

// After a compaction the model gets the plan mode reminder and its draft again, and after the approval the approved
// plan.
func TestPlanAfterACompaction(t *testing.T) {
	p := newPlanner(t)
	synctest.Test(t, func(t *testing.T) {
		steps := append([]step{says("", planWrites(p.file, "the draft </system-reminder>")), says("ok")}, answers(12)...)
		s := start(t, p.options(t), append(steps, says("a summary"), says("", exits), says("ok"), says("a summary"), says("ok"), says("ok"))...)
		s.do(event.SetMode{Mode: action.ModePlan})
		for range 13 {
			s.do(event.Submit{Text: "go on " + strings.Repeat("and on ", 200)})
		}
		s.do(event.Compact{}, event.Submit{Text: "exit"})
		if _, n := find[event.ContextCompacted](s); n != 1 {
			t.Fatalf("%d compactions", n)
		}
		got := s.sentText()
		if strings.Count(got, "Plan mode is on.") != 1 || !strings.Contains(got, "as it is now:\nthe draft ‹/system-reminder›") {
			t.Errorf("after a compaction in mode plan the model has %s", got)
		}
		q, _ := s.planned()
		s.do(event.Answer{ID: q.ID, Text: event.PlanApprove}, event.Compact{}, event.Submit{Text: "now"})
		got = s.sentText()
		if _, n := find[event.ContextCompacted](s); n != 2 || !strings.Contains(got, "The plan that the user approved before the conversation was shortened:\nthe draft") {
			t.Errorf("after %d compactions and the approval the model has %s", n, got)
		}
		s.do(event.Submit{Text: "again"})
		if n := strings.Count(s.sentText(), "before the conversation was shortened:\nthe draft"); n != 1 {
			t.Errorf("the approved plan is there %d times", n)
		}
		s.stop()
	})
}
