package commands

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/config"
	"buddy/features/feature"
)

func init() {
	add(slash.Command{
		Name: "permissions", Args: "[list|delete ID]", Brief: "list or delete permission rules", Means: []string{"allow", "deny", "allowed-tools"},
		Help: "list this session's and your settings' permission rules, or delete one",
	}, feature.Verbs("permissions", verb{Name: "list", Run: listRules}, verb{Name: "delete", Args: "ID", Run: deleteRule}))
}

// listRules lists the rules that apply, deny before ask before allow.
func listRules(_ context.Context, s *Session, _ []string) (show.Answer, error) {
	if s.Program == nil {
		return show.Answer{}, feature.ErrNoSession
	}
	rules, err := s.Program.Rules()
	list := show.List{
		Title: "Permission rules", Columns: []string{"rule", "from"},
		Empty: "No rules: the permission mode decides. To add one for this session, press s in an approval; for all sessions, write [[allow]], [[ask]] or [[deny]] in your settings.",
		Usage: "/permissions delete N deletes a rule, also from its file.",
	}
	for _, r := range rules {
		place := placeOf(&s.Program.Config, r)
		label := "delete it"
		if place != "" {
			label = "delete it, also from " + place
		}
		list.Rows = append(list.Rows, show.Row{
			ID: ruleID(r), Cells: []string{ruleText(r), ruleFrom(r, place)}, More: []string{ruleText(r), "from: " + ruleFrom(r, place)},
			Title: "Delete this rule?",
			Deeds: []show.Deed{{Label: label, Run: []string{"permissions", "delete", ruleID(r)}, Closes: true}},
		})
	}
	return show.Answer{List: &list}, err
}

// deleteRule removes a rule from the session. A rule from the settings is removed from its file first.
func deleteRule(_ context.Context, s *Session, args []string) (show.Answer, error) {
	if s.Program == nil {
		return show.Answer{}, feature.ErrNoSession
	}
	rules, err := s.Program.Rules()
	if err != nil {
		return show.Answer{}, err
	}
	id := textOf(args)
	i := slices.IndexFunc(rules, func(r action.Rule) bool { return ruleID(r) == id })
	if i < 0 {
		return show.Answer{}, fmt.Errorf("there is no rule %q (/permissions lists all %d)", id, len(rules))
	}
	if rules[i].Source == action.FromSession {
		s.Send(event.RemoveRule{Rule: rules[i]})
		return show.Answer{}, nil
	}
	file, err := removeRule(&s.Program.Config, rules[i])
	if err != nil {
		return show.Answer{}, err
	}
	s.Send(event.RemoveRule{Rule: rules[i]})
	return show.Say("deleted from " + file), nil
}

// ruleID returns an id of a rule. The id stays the same when other rules are added or deleted.
func ruleID(r action.Rule) string { return show.IDOf(r.String(), string(r.Source)) }

// ruleText returns a rule without its source.
func ruleText(r action.Rule) string {
	r.Source = ""
	return r.String()
}

// ruleFrom names the source of a rule.
func ruleFrom(r action.Rule, place string) string {
	switch {
	case r.Source == action.FromSession:
		return "this session"
	case place != "":
		return place
	case r.Source == action.FromProject:
		return "project settings"
	}
	return "settings"
}

// placeOf returns where a rule was in the settings when they were read, as file:line, "" if the rule was not in the
// settings.
func placeOf(c *config.Config, r action.Rule) string {
	i := slices.IndexFunc(c.Rules, func(one config.Rule) bool { return reflect.DeepEqual(one.Rule, r) })
	if i < 0 {
		return ""
	}
	return c.Rules[i].Place
}

// removeRule deletes a rule from its settings file and returns the file. The rule still applies to the session.
func removeRule(c *config.Config, r action.Rule) (string, error) {
	var files []string
	if place := placeOf(c, r); place != "" {
		files = append(files, place[:strings.LastIndexByte(place, ':')])
	} else { // added after the settings were read
		for _, source := range config.Sources("", nil) {
			if source.Read && (source.Kind == "project") == (r.Source == action.FromProject) {
				files = append(files, source.Path)
			}
		}
	}
	for _, file := range files {
		switch err := config.RemoveRule(file, r); {
		case err == nil:
			return file, nil
		case !errors.Is(err, config.ErrNoRule):
			return "", err
		}
	}
	return "", fmt.Errorf("%s: no settings file has this rule any more; the next session starts without it", r)
}
