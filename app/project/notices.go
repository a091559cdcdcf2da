package project

import (
	"fmt"

	"buddy/agent/event"
	"buddy/texts"
)

// shownName limits the characters of a part's name in a notice.
const shownName = 60

// Notices returns events about the parts of the project that do not run, and about problems in its files, one line
// each.
func (s *Source) Notices() (all []event.Event) {
	checks, problems, err := s.check()
	if err != nil {
		return []event.Event{LostLimit(fmt.Sprintf("this project's hooks and servers don't run: %v", err))}
	}
	var fresh, changed []string
	for _, c := range checks {
		switch c.state() {
		case Changed:
			changed = append(changed, texts.Clip(c.Kind+" "+c.Name, shownName))
		case NotTrusted, Untrustable:
			fresh = append(fresh, texts.Clip(c.Kind+" "+c.Name, shownName))
		}
	}
	if len(fresh) > 0 {
		all = append(all, event.Notice{Text: texts.OneLine("Needs your trust before it runs: " + texts.Some(fresh) + seeTrust), Code: "trust"})
	}
	if len(changed) > 0 {
		all = append(all, LostLimit("Off, because it changed since you trusted it: "+texts.Some(changed)+seeTrust))
	}
	for _, p := range problems {
		switch text := "skipped in " + p.File + ": " + p.Reason; {
		case p.Limits:
			all = append(all, LostLimit(text))
		case !p.Quiet || len(fresh)+len(changed) > 0:
			all = append(all, event.Notice{Text: texts.OneLine(text), Code: "trust"})
		}
	}
	return all
}

const seeTrust = "; see /trust, or run buddy trust"

// LostLimit returns a warning about a limit that has no effect.
func LostLimit(text string) event.Warning {
	return event.Warning{Text: texts.OneLine(text), Code: event.LostLimit}
}
