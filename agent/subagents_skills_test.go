package agent

import (
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/extensions"
	"buddy/tools"
	"buddy/tools/basic"
)

// TestMentionedAgent: an agent named in a prompt is announced to the model with that prompt; similar text is ignored.
func TestMentionedAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := withAgents(t, map[string][]step{"main": answers(3)}, []string{worker}, nil)
		s.do(event.Submit{Text: "mail me@worker, see @nobody and @worker.txt"})
		s.do(event.Submit{Text: "let @agent-worker look, then @worker again"})
		s.do(event.Submit{Text: "and now?"})
		all := m.sent("main")
		const told = "call the `agent` tool with type worker for what"
		if countIn(all[0], told) != 0 || countIn(all[1], told) != 1 || countIn(all[2], told) != 1 {
			t.Errorf("told %d, %d, %d times", countIn(all[0], told), countIn(all[1], told), countIn(all[2], told))
		}
		s.stop()
	})
}

// TestSkillsOfAgents: an agent gets the texts of its skills with its task, a skill with context fork runs as a
// subagent and returns one message, and grants of a skill do not apply to agents.
func TestSkillsOfAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &library{}
		l.add(t, extensions.Person, extensions.Skill, "style", "---\ndescription: Style\n---\nUse tabs.")
		l.add(t, extensions.Person, extensions.Skill, "grants", "---\ndescription: Grants\nallowed-tools: Bash(./echo)\n---\nNow echo.")
		l.add(t, extensions.Person, extensions.Skill, "audit", "---\ndescription: Audit\ncontext: fork\nagent: worker\n---\nAudit $ARGUMENTS.")
		shell := &printer{}
		s, m := withAgents(t, map[string][]step{
			"main":   {says("", callsAgent("a1", "styled", "one", ""), `a2 use_tool {"name":"skill","args":{"name":"audit","args":"all"}}`), says("done")},
			"one":    {says("", `c1 use_tool {"name":"skill","args":{"name":"grants"}}`), says("", `c2 run_shell {"command":"./echo"}`), says("end")},
			"<skill": {says("audited")},
		}, []string{worker, strings.NewReplacer("worker", "styled", "description", "skills: style, missing\ndescription").Replace(worker)}, func(o *Options) {
			l.begin(o)
			o.Tools = tools.NewRegistry(shell, basic.NewAgent(), tools.NewUseTool(tools.NewDeferred(basic.NewSkill())))
		})
		s.do(event.Submit{Text: "go"})
		if first := m.sent("one")[0]; countIn(first, "Use tabs.") != 1 {
			t.Errorf("the agent was asked %+v", first.Messages)
		}
		missing := 0
		for _, env := range s.events() {
			if n, ok := env.Payload.(event.Notice); ok && strings.Contains(n.Text, `no skill "missing"`) {
				missing++
			}
		}
		if missing != 1 {
			t.Errorf("%d notices of a skill that is not there", missing)
		}
		asked, n := find[event.ApprovalAsked](s)
		if n != 1 || asked.Action.Command != "./echo" {
			t.Fatalf("%d approvals, %+v: a skill of an agent granted something", n, asked)
		}
		s.do(event.AnswerApproval{ID: asked.ID, Decision: event.Deny})
		if got := m.results("main"); len(got) != 2 || !strings.Contains(got[1], "audited") {
			t.Errorf("the main agent reads %q", got)
		}
		forked := m.sent("<skill")[0].Messages
		if last := forked[len(forked)-1]; last.Role != model.User || !strings.Contains(last.Content, "Audit all.") {
			t.Errorf("the fork was asked %+v", forked)
		}
		s.stop()
	})
}
