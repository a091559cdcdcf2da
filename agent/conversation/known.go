package conversation

import (
	"maps"
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/agent/reminder"
)

// known records what the model has besides prompts and answers: listings, skills, reminders. The conversation's lock
// guards it.
type known struct {
	states map[string]string       // by kind of reminder
	steps  reminder.Steps          // from the model's own step list
	listed map[string]knownListing // by kind
	loaded []LoadedSkill           // newest last
	calls  []string                // prompts that start with a slash, until it is known whether they call a skill
	plan   PlanState
	work   work
	below  below
	naming []string // prompts that may name resources, until these are attached
}

// LoadedSkill is a skill whose text is or was in a conversation.
type LoadedSkill struct {
	Name, Args string
	Sum        string // checksum of its file
	Gone       bool   // a compaction may have removed the text
}

// clone returns a copy for a fork. The copy has no prompts, because they belong to the original conversation.
func (k *known) clone() known {
	return known{states: maps.Clone(k.states), steps: k.steps, listed: maps.Clone(k.listed), loaded: slices.Clone(k.loaded), plan: k.plan, work: k.work.clone(), below: k.below.clone()}
}

func (k *known) list(kind string, t knownListing) {
	if k.listed == nil {
		k.listed = make(map[string]knownListing)
	}
	k.listed[kind] = t
}

// prompted records a prompt. If it may call a skill or name resources, it is kept until that is known.
func (k *known) prompted(p event.PromptSubmitted) {
	k.work.prompted(p)
	if p.Kind != event.Typed && strings.Contains(p.Text, "@") {
		k.naming = append(k.naming, p.Text)
	}
	if strings.HasPrefix(p.Text, "/") {
		k.calls = append(k.calls, p.Text)
	}
}

func (k *known) load(e event.SkillLoaded) {
	k.loaded = slices.DeleteFunc(slices.Clone(k.loaded), func(s LoadedSkill) bool { return s.Name == e.Name })
	k.loaded = append(k.loaded, LoadedSkill{Name: e.Name, Args: e.Args, Sum: e.Sum})
	if e.By == event.ByPerson {
		k.calls = slices.DeleteFunc(slices.Clone(k.calls), func(line string) bool { return line == e.Line })
	}
}

// restored records that the texts of these skills are back in the conversation.
func (k *known) restored(names []string) {
	for i := range k.loaded {
		if slices.Contains(names, k.loaded[i].Name) {
			k.loaded[i].Gone = false
		}
	}
}

// forget records that a compaction may have removed reminders.
func (k *known) forget() {
	k.listed, k.below = nil, below{used: k.below.used, lost: true}
	k.work.Compactions++
	k.plan = PlanState{Gone: true}
	delete(k.states, reminder.Context)
	delete(k.states, reminder.Folder)
	for i := range k.loaded {
		k.loaded[i].Gone = true
	}
}

func (k *known) replay(e event.Event) {
	switch p := e.(type) {
	case event.PromptSubmitted:
		if !p.Queued {
			k.prompted(p)
		}
	case event.ReminderAttached:
		if p.Digest != "" && len(p.Kinds) > 0 {
			k.list(p.Kinds[0], knownListing{digest: p.Digest})
		}
		if slices.Contains(p.Kinds, reminder.Resources) {
			k.naming = nil
		}
		if slices.Contains(p.Kinds, reminder.Instructions) {
			k.below.lost = false
		}
		k.restored(p.Names)
		k.plan.reminded(p.Kinds)
		k.remember(p.States)
	case event.ToolResult:
		k.wrote(p)
	case event.SkillLoaded:
		k.load(p)
	case event.ModelMessage:
		k.calls, k.naming = nil, nil // earlier prompts are answered
		k.plan.Answers++
		k.steps.Quiet++
		k.work.Answers++
	case event.ContextCompacted:
		k.forget()
	}
}
