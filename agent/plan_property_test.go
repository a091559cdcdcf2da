package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/tools"
)

// changer is a tool whose calls describe themselves, and that counts changes.
type changer struct{ fakeTool }

func (*changer) Plan(c tools.Call) (action.Action, error) {
	var a action.Action
	err := json.Unmarshal([]byte(c.Arguments), &a)
	a.Tool, a.Target, a.Cwd, a.Mutation = "do", "local", "/w", true
	return a, err
}

func (*changer) Parallel(tools.Call) bool { return false }

func (*changer) Run(context.Context, tools.Call) tools.Result { return tools.Result{Content: "done"} }

// For any calls, modes, rules and answers: in plan mode no tool that changes something runs, except on the plan's
// file. In the other modes some do run, otherwise this would prove nothing.
func TestNothingChangesInModePlan(t *testing.T) {
	ran := map[action.Mode]int{}
	for seed := range uint64(12) {
		p := newPlanner(t)
		synctest.Test(t, func(t *testing.T) { playPlanning(t, p, rand.New(rand.NewPCG(seed, 7)), ran) })
	}
	t.Logf("changes by mode: %v", ran)
	if ran[action.ModePlan] < 5 {
		t.Errorf("the plan was written %d times: too seldom", ran[action.ModePlan])
	}
	if ran[action.ModeAll] < 50 || ran[action.ModeAsk] < 20 || ran[action.ModeEdits] < 3 {
		t.Errorf("few calls ran in other modes: %v", ran)
	}
}

// playPlanning plays a session of random moves, and counts by mode the calls that changed something. In plan mode a
// change of anything but the plan's file is an error.
func playPlanning(t *testing.T, p *planner, r *rand.Rand, ran map[action.Mode]int) {
	p.change = func(o *Options) { o.MaxIterations = 0 }
	var steps []step
	for range 400 {
		steps = append(steps, says("", randomCall(r, p)), says("", randomCall(r, p), randomCall(r, p)), says("ok"))
	}
	s := start(t, p.options(t, &changer{}), steps...)
	modes := []action.Mode{action.ModePlan, action.ModePlan, action.ModePlan, action.ModeAll, action.ModeAsk, action.ModeEdits, action.ModeStrict, action.ModeNone}
	for range 40 {
		switch r.IntN(6) {
		case 0:
			s.do(event.SetMode{Mode: modes[r.IntN(len(modes))]})
		case 1:
			s.do(event.SetMode{Mode: action.ModeAll, Duration: time.Duration(1+r.IntN(90)) * time.Second})
		case 2:
			time.Sleep(time.Duration(r.IntN(60)) * time.Second)
		default:
			s.do(event.Submit{Text: "go", Background: r.IntN(5) == 0})
		}
		for range 20 { // answers may lead to more requests
			if !answerOne(s, r) {
				break
			}
		}
	}
	s.stop()
	mode, calls := action.ModeAsk, map[string]action.Action{}
	for _, env := range s.seen {
		switch e := env.Payload.(type) {
		case event.ModeChanged:
			mode = e.Mode
		case event.ToolRequested:
			calls[e.CallID] = e.Action
		case event.ToolStarted:
			a := calls[e.CallID]
			if !a.Mutation {
				continue
			}
			ran[mode]++
			if mode == action.ModePlan && (a.Kind != action.PlanFile || a.Path != p.file) {
				t.Errorf("in mode plan %s ran: %+v", e.Name, a)
			}
		}
	}
}

// answerOne answers one open request at random, and reports whether there was one.
func answerOne(s *session, r *rand.Rand) bool {
	var open event.Event
	s.mu.Lock()
	for _, env := range s.seen {
		switch e := env.Payload.(type) {
		case event.ApprovalAsked, event.QuestionAsked:
			open = e
		case event.ApprovalAnswered, event.QuestionAnswered, event.TaskFinished:
			open = nil
		}
	}
	s.mu.Unlock()
	if open != nil && r.IntN(8) == 0 { // the mode changes while a request is open
		s.do(event.SetMode{Mode: action.ModePlan})
	}
	switch e := open.(type) {
	case event.ApprovalAsked:
		decisions := []event.Decision{event.Once, event.Once, event.Deny, event.Edit, event.Similar}
		s.do(event.AnswerApproval{
			ID: e.ID, Decision: decisions[r.IntN(len(decisions))], Args: `{"kind":"shell","command":"touch edited","path":"a.go","content":"edited"}`,
		})
	case event.QuestionAsked:
		texts := []string{event.PlanApprove, event.PlanDiscard, "more", event.PlanEdit}
		s.do(event.Answer{ID: e.ID, Text: texts[r.IntN(len(texts))]})
	}
	return open != nil
}

// randomCall returns a random call, sometimes through use_tool.
func randomCall(r *rand.Rand, p *planner) string {
	kinds := []action.Kind{
		action.FileWrite, action.FileDelete, action.Shell, action.Git, action.PaneKeys, action.Network, action.MCP, action.Internal,
		action.Generic, action.PlanFile, "unheard of",
	}
	name := "do"
	args := tools.JSON(action.Action{
		Kind: kinds[r.IntN(len(kinds))], Command: []string{"touch x", "git commit -am x", "make"}[r.IntN(3)],
		Path: []string{"/w/x", filepath.Join(p.dir, "a.go"), p.file + ".x"}[r.IntN(3)], Host: "example.com",
	})
	switch r.IntN(7) {
	case 0, 1:
		name = "write_file"
		args = fmt.Appendf(nil, `{"path":%q,"content":"%d"}`, []string{"a.go", "b.go", p.file, "../out"}[r.IntN(4)], r.IntN(100))
	case 2:
		name = "apply_patch"
		args = fmt.Appendf(nil, `{"patch":"*** Begin Patch\n*** Add File: p%d.go\n+x\n*** End Patch\n"}`, r.IntN(1000))
	case 3:
		name, args = "exit_plan", []byte("{}")
	case 4:
		name, args = "enter_plan", []byte("{}")
	}
	if r.IntN(2) == 0 {
		name, args = "use_tool", fmt.Appendf(nil, `{"name":%q,"args":%s}`, name, args)
	}
	return fmt.Sprint("c", r.IntN(1_000_000_000), " ", name, " ", string(args))
}
