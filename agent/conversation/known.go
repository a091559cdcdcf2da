package conversation

import (
	"maps"
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/agent/reminder"
)

// known holds what the model of a conversation was told beside the messages: listings, skills, reminders. The conversation's lock guards it.
type known struct {
	states map[string]string // of reminders, by kind
	steps  reminder.Steps    // its own list
	listed map[string]told   // by kind
	loaded []LoadedSkill     // the newest last
	calls  []string          // prompts that begin with a slash, until it is known whether they call a skill
	plan   ToldOfPlan
	work   work
	below  below
	naming []string // prompts that may name resources, until those are attached
}

// LoadedSkill is a skill whose text a conversation has had.
type LoadedSkill struct {
	Name, Args string
	Sum        string // of its file
	Gone       bool   // a compaction may have taken it out
}

// clone returns what a fork knows, but for the prompts, which are not its own.
func (k *known) clone() known {
	return known{states: maps.Clone(k.states), steps: k.steps, listed: maps.Clone(k.listed), loaded: slices.Clone(k.loaded), plan: k.plan, work: k.work.clone(), below: k.below.clone()}
}

func (k *known) list(kind string, t told) {
	if k.listed == nil {
		k.listed = make(map[string]told)
	}
	k.listed[kind] = t
}

// prompted notes a prompt that may call a skill, or name resources.
func (k *known) prompted(p event.PromptSubmitted) {
	k.work.prompted(p)
	if p.Kind != event.Typed && strings.Contains(p.Text, "@") {
		k.naming = append(k.naming, p.Text)
	}
	if strings.HasPrefix(p.Text, "/") {
		k.calls = append(k.calls, p.Text)
	}
}

// load notes that a skill was loaded.
func (k *known) load(e event.SkillLoaded) {
	k.loaded = slices.DeleteFunc(slices.Clone(k.loaded), func(s LoadedSkill) bool { return s.Name == e.Name })
	k.loaded = append(k.loaded, LoadedSkill{Name: e.Name, Args: e.Args, Sum: e.Sum})
	if e.By == event.ByPerson {
		k.calls = slices.DeleteFunc(slices.Clone(k.calls), func(line string) bool { return line == e.Line })
	}
}

// restored notes that the texts of skills are there again.
func (k *known) restored(names []string) {
	for i := range k.loaded {
		if slices.Contains(names, k.loaded[i].Name) {
			k.loaded[i].Gone = false
		}
	}
}

// forget notes that a compaction may have taken out what was told.
func (k *known) forget() {
	k.listed, k.below = nil, below{used: k.below.used, lost: true}
	k.work.Compactions++
	k.plan = ToldOfPlan{Gone: true}
	delete(k.states, reminder.Context)
	delete(k.states, reminder.Folder)
	for i := range k.loaded {
		k.loaded[i].Gone = true
	}
}

// replay feeds a stored event.
func (k *known) replay(e event.Event) {
	switch p := e.(type) {
	case event.PromptSubmitted:
		if !p.Queued {
			k.prompted(p)
		}
	case event.ReminderAttached:
		if p.Digest != "" && len(p.Kinds) > 0 {
			k.list(p.Kinds[0], told{digest: p.Digest})
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
		k.calls, k.naming = nil, nil // the prompts before it are answered
		k.plan.Answers++
		k.steps.Quiet++
		k.work.Answers++
	case event.ContextCompacted:
		k.forget()
	}
}
