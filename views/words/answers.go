package words

import (
	"fmt"
	"strings"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/texts"
)

// Answer is one of the answers to an approval.
type Answer struct {
	Decision event.Decision
	Label    string
	Short    string // if answers share a row
}

// Answers returns the answers to an approval in the order of their numbers. edited means that the person has edited the
// call.
func Answers(a event.ApprovalAsked, edited bool) []Answer {
	no := Answer{event.Deny, "No, and tell the agent why", "No, because…"}
	switch {
	case a.Context.Tried != nil:
		return afterTry(a.Context.Tried)
	case edited:
		return []Answer{{event.Once, "Yes, with your edits", "Yes"}, no}
	}
	all := []Answer{{event.Once, "Yes", "Yes"}}
	if similar := a.Context.Similar; similar != "" {
		all = append(all, Answer{event.Similar, "Yes, and " + similar, "Yes, don't ask again"})
	}
	if a.Context.Try.Offered {
		all = append(all, Answer{event.Try, "Try it first (nothing changes)", "Try it first"})
	}
	return append(all, no)
}

// afterTry returns the answers for a command that was tried.
func afterTry(t *action.Tried) []Answer {
	keep := Answer{event.Keep, "Keep exactly this (nothing runs again)", "Keep this"}
	run := Answer{event.Once, "Run it for real (may do something else)", "Run it for real"}
	again := Answer{event.Try, "Try it again", "Try again"}
	drop := Answer{event.Deny, "Throw it away, and tell the agent why", "Throw it away…"}
	switch {
	case t.Running:
		return []Answer{{event.Try, "Wait for it", "Wait"}, drop}
	case len(t.Conflicts) > 0:
		return []Answer{again, run, drop}
	case t.Stopped != "":
		return []Answer{run, again, drop}
	case len(t.Names) > 0:
		keep.Label = "Keep what it made without a network"
	case len(t.Doubts) > 0:
		keep.Label = "Keep what it made, although " + texts.Clip(texts.OneLine(t.Doubts[0]), 60)
	default:
		return []Answer{keep, run, drop}
	}
	return []Answer{run, keep, drop}
}

// triedQuestion is Question for a command that was tried.
func triedQuestion(t *action.Tried) string {
	switch {
	case t.Running:
		return "It is still being tried. Wait for it?"
	case len(t.Conflicts) > 0:
		return "Try it again?"
	case t.Stopped != "":
		return "Run this command?"
	}
	return "Keep what it changed?"
}

// triedFacts is Facts for a command that was tried.
func triedFacts(t *action.Tried) []string {
	took := time.Duration(t.TookMS) * time.Millisecond
	if t.Running {
		return []string{fmt.Sprintf("It has run for %.0f s and changed nothing here. You are asked again after another %.0f s.", took.Seconds(), float64(t.LimitMS)/1000)}
	}
	parts := []string{"tried, nothing changed here", fmt.Sprintf("exit %d", t.Code), fmt.Sprintf("%.1f s", took.Seconds()), triedCount(t)}
	if len(t.Names) > 0 {
		parts = append(parts, "asked for "+texts.Clip(strings.Join(t.Names, ", "), 80)+": refused")
	}
	const most = 5
	if n := len(t.Conflicts); n > most {
		parts = append(parts, fmt.Sprintf("%s and %d more changed since", strings.Join(t.Conflicts[:most], ", "), n-most))
	} else if n > 0 {
		parts = append(parts, strings.Join(t.Conflicts, ", ")+" changed since")
	}
	if t.Stopped != "" {
		parts = append(parts, "its changes can't be kept: "+t.Stopped)
	}
	for _, why := range t.Doubts {
		if !strings.HasPrefix(why, "it ended with exit code") && !strings.HasPrefix(why, "it asked for ") { // these are said above
			parts = append(parts, texts.OneLine(why))
		}
	}
	return []string{strings.Join(parts, " · ")}
}

// triedCount counts the changes of a command that was tried.
func triedCount(t *action.Tried) string {
	switch {
	case t.Count == 0 && len(t.Files) > 0:
		return "only folders changed"
	case t.Count == 0:
		return "no file changed"
	case t.Added+t.Deleted == 0 || t.More > 0:
		return texts.Plural(t.Count, "file")
	}
	return fmt.Sprintf("%s: +%d −%d", texts.Plural(t.Count, "file"), t.Added, t.Deleted)
}
