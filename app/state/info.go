package state

import (
	"cmp"
	"maps"
	"slices"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/plan"
	"buddy/texts"
)

// applyInfo applies a change of the session: its model, target, mode, rules or costs.
func (s *State) applyInfo(env event.Envelope) Changed {
	switch p := env.Payload.(type) {
	case event.SessionCreated:
		s.Info.Session, s.Info.Event, s.Info.First = env.Session, p, p.Target
	case event.SessionResumed:
		return resumed(s, env, p) | Header
	case event.SessionForked:
		s.add(env, NoticeBlock, "this is now a fork of session "+p.From)
		return Conversation
	case event.SessionRenamed:
		s.Info.Event.Title = p.Title
	case event.ModelSwitched:
		e := &s.Info.Event
		text := "switched to " + p.Model + " (" + p.Profile + ")"
		if e.Profile == p.Profile && e.Effort != p.Effort {
			text = "reasoning_effort is now " + cmp.Or(p.Effort, "the provider's default")
		}
		e.Profile, e.Model, e.API, e.Window, e.Effort = p.Profile, p.Model, p.API, p.Window, p.Effort
		s.add(env, NoticeBlock, texts.WithNext(text, p.Note))
		return Header | Conversation
	case event.TargetSwitched:
		s.Info.Event.Target, s.Info.Event.Cwd = p.Name, p.Cwd
		s.add(env, NoticeBlock, "switched to target "+p.Name)
		return Header | Conversation
	case event.ContextUsage:
		s.Info.Context = p
	case event.MetricsUsage:
		s.Info.Usage = p
	case event.RuleAdded, event.RuleRemoved:
		s.add(env, NoticeBlock, ruleText(p))
		return Conversation
	case event.PlanExited: // the text of the plan, because its dialog has closed
		if p.Approved {
			approvedPlan(s, env, p)
			return Conversation | Tasks
		}
	case event.ModeChanged:
		s.Info.Mode, s.Info.Until = p.Mode, p.Until
	}
	return Header
}

// resumed starts the state of a new process, in which everything that the earlier process ran has ended.
func resumed(s *State, env event.Envelope, p event.SessionResumed) Changed {
	s.Info.Session, s.Info.First, s.Info.Fallback = env.Session, p.Target, ""
	s.Bare = nil // nothing prints any more
	s.Info.Event = event.SessionCreated{
		Version: p.Version, Cwd: p.Cwd, Target: p.Target, Profile: p.Profile,
		Model: p.Model, API: p.API, Window: p.Window, Effort: p.Effort, Title: s.Info.Event.Title,
	}
	s.Info.Mode, s.Info.Until = action.ModeAsk, 0
	if g := &s.Info.Goal; g.State == event.GoalActive {
		g.State = event.GoalPaused
	}
	return s.endAll(env.Time)
}

// approvedPlan shows an approved plan. Its steps replace the list of steps.
func approvedPlan(s *State, env event.Envelope, p event.PlanExited) {
	s.add(env, AssistantBlock, plan.Shown(p.Plan))
	if len(p.Steps) > 0 {
		s.Steps = plannedSteps(p.Steps)
	}
}

// ruleText describes the rule that was added or removed.
func ruleText(e event.Event) string {
	if p, ok := e.(event.RuleAdded); ok {
		return "new rule for this " + p.Scope + ": " + p.Rule.String()
	}
	p, _ := e.(event.RuleRemoved)
	return "rule removed from the " + p.Scope + ": " + p.Rule.String()
}

// applyExtension applies called skills, available commands, states of servers, and runs of workflows.
func applyExtension(s *State, env event.Envelope) Changed {
	switch p := env.Payload.(type) {
	case event.WorkflowStarted, event.WorkflowStepped, event.WorkflowChanged:
		return applyWorkflow(s, env)
	case event.MCPServer:
		return applyServer(s, p)
	case event.CommandsListed:
		s.Info.Commands = p.Commands
		return Commands
	case event.SkillLoaded:
		if p.By == event.ByPerson {
			s.add(env, SkillBlock, texts.OneLine(p.Line)+"\n"+p.File+" ("+p.Origin+")\n"+p.Text)
			return Conversation
		}
	}
	return 0
}

// applyServer counts the MCP servers, and collects the prompts of those that are ready.
func applyServer(s *State, p event.MCPServer) Changed {
	if s.servers == nil {
		s.servers = make(map[string]event.MCPServer)
	}
	s.servers[p.Server] = p
	s.Info.Servers, s.Info.Prompts = ServerCount{}, nil
	for _, name := range slices.Sorted(maps.Keys(s.servers)) {
		one := s.servers[name]
		switch one.State {
		case "off":
			continue
		case "starting":
			s.Info.Servers.Starting++
		case "ready":
			s.Info.Prompts = append(s.Info.Prompts, one.Prompts...)
		}
		s.Info.Servers.All++
	}
	return Header | Servers | Commands
}
