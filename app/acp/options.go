package acp

import (
	"context"
	"fmt"
	"slices"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/compose"
	"buddy/app/slash"
	"buddy/app/state"
	"buddy/texts"
)

// modeTexts describes the permission modes.
var modeTexts = map[action.Mode]string{
	action.ModeAsk:    "asks before it changes anything",
	action.ModeStrict: "asks before every action",
	action.ModeEdits:  "edits files in the folder without asking",
	action.ModeAuto:   "runs commands in a sandbox without asking",
	action.ModePlan:   "only reads, and writes a plan",
	action.ModeAll:    "never asks",
	action.ModeNone:   "denies everything that needs approval",
}

// modesOf returns the permission modes, for editors that have a menu for them.
func modesOf(now state.Info) *modes {
	m := &modes{Current: string(now.Mode)}
	for _, one := range action.Modes {
		m.Available = append(m.Available, mode{string(one), one.Label(), modeTexts[one]})
	}
	return m
}

// efforts lists the levels that /effort accepts.
var efforts = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}

// usual stands for the model's own effort, which applies if the user has set none.
const usual = "default"

// options returns the settings that the editor can change.
func (s *session) options(now state.Info) []option {
	mode := option{ID: "mode", Name: "Mode", Category: "mode", Type: "select", Current: string(now.Mode)}
	for _, one := range action.Modes {
		mode.Options = append(mode.Options, optionChoice{string(one), one.Label(), modeTexts[one]})
	}
	model := option{ID: "model", Name: "Model", Category: "model", Type: "select", Current: now.Event.Profile}
	for _, o := range compose.OffersOf(context.Background(), s.setup.Config, s.setup.Index, false) {
		if o.Usable {
			model.Options = append(model.Options, optionChoice{o.Name, clean(o.Name), clean(o.ModelText())})
		}
	}
	model.known()
	effort := option{ID: "effort", Name: "Effort", Category: "thought_level", Type: "select", Current: now.Event.Effort}
	if effort.Current == "" {
		effort.Current = usual
	}
	for _, e := range efforts {
		effort.Options = append(effort.Options, optionChoice{Value: e, Name: e})
	}
	effort.known()
	return []option{mode, model, effort}
}

// known adds the current value to the choices if it is missing.
func (o *option) known() {
	if !o.has(o.Current) {
		o.Options = slices.Insert(o.Options, 0, optionChoice{Value: o.Current, Name: clean(o.Current)})
	}
}

func (o *option) has(value string) bool {
	return slices.ContainsFunc(o.Options, func(c optionChoice) bool { return c.Value == value })
}

func (s *server) setMode(p *sessionParams) (any, func(), error) {
	one, err := s.find(p.SessionID)
	if err == nil {
		err = one.set("mode", p.ModeID)
	}
	return struct{}{}, nil, err
}

// setOption changes a setting, and returns all settings.
func (s *server) setOption(p *sessionParams) (any, func(), error) {
	one, err := s.find(p.SessionID)
	if err != nil {
		return nil, nil, err
	}
	value, ok := p.Value.(string)
	if !ok {
		return nil, nil, failf(codeParams, "the value of the option %q must be a string", clip(p.ConfigID))
	}
	if err := one.set(p.ConfigID, value); err != nil {
		return nil, nil, err
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	return map[string]any{"configOptions": one.options(one.state.Info)}, nil, nil
}

// set changes a setting, and waits until the session has accepted or refused it.
func (s *session) set(id, value string) error {
	if s.watches {
		return failf(codeInvalid, "this editor can only watch this session; to allow more, set [host] without_terminal = true in your settings")
	}
	s.mu.Lock()
	all := s.options(s.state.Info)
	i := slices.IndexFunc(all, func(o option) bool { return o.ID == id })
	switch {
	case i < 0:
		s.mu.Unlock()
		return failf(codeParams, "unknown option %q (have: mode, model, effort)", clip(id))
	case !all[i].has(value):
		s.mu.Unlock()
		return failf(codeParams, "unknown %s %q", id, clip(value))
	case all[i].Current == value:
		s.mu.Unlock()
		return nil
	}
	done := make(chan event.Event, 1)
	s.waiting = append(s.waiting, waiter{id, value, done})
	s.mu.Unlock()
	switch id {
	case "mode":
		s.process.Send(event.SetMode{Mode: action.Mode(value)})
	case "model":
		s.process.Send(event.SwitchModel{Profile: value})
	default:
		s.process.Send(event.SwitchModel{Effort: value})
	}
	ctx, cancel := context.WithTimeout(s.conn.ctx, endTime)
	defer cancel()
	select {
	case e := <-done:
		if p, failed := e.(event.Error); failed {
			return failf(codeInvalid, "%s", clean(texts.WithNext(slash.OnCommandLine(p.Text), p.NextStep)))
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the session did not change %s within %v", id, endTime)
	}
}
