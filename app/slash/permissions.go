package slash

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"buddy/agent/action"
	"buddy/agent/event"
)

// Permission is a rule that applies now.
type Permission struct {
	Rule  action.Rule
	Place string // file:line of one from the settings, as far as known; "" else
}

// RuleList finds the rules that apply now, and deletes those of the settings.
type RuleList struct {
	List   func() ([]Permission, error)
	Remove func(Permission) (file string, err error) // from its file, which it returns
}

// Now returns the rules that apply now.
func (l RuleList) Now() ([]Permission, error) {
	if l.List == nil {
		return nil, errors.New("no session runs here")
	}
	return l.List()
}

// From says where a rule comes from.
func (p Permission) From() string {
	switch {
	case p.Rule.Source == action.FromSession:
		return "until the session ends"
	case p.Place != "":
		return p.Place
	case p.Rule.Source == action.FromProject:
		return "settings of the project"
	}
	return "settings"
}

// Text returns the rule without its source.
func (p Permission) Text() string {
	r := p.Rule
	r.Source = ""
	return r.String()
}

// OnPermissions lists the rules that apply, or deletes one by its number.
func (c Catalog) OnPermissions(s Frontend, args string) error {
	verb, rest, _ := strings.Cut(args, " ")
	all, err := c.Rules.Now()
	if err != nil {
		return err
	}
	switch verb {
	case "", "list":
		s.Say(permissionsText(all))
		return nil
	case "delete":
		n, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(rest), "#"))
		if err != nil || n < 1 || n > len(all) {
			return fmt.Errorf("%q is not the number of a rule (/permissions lists %d)", rest, len(all))
		}
		c.Forget(s, all[n-1])
		return nil
	}
	return fmt.Errorf("%q is not known (have: list, delete N)", verb)
}

// Forget ends a rule. One of the settings is deleted from its file first.
func (c Catalog) Forget(s Frontend, p Permission) {
	if p.Rule.Source == action.FromSession {
		s.Command(event.RemoveRule{Rule: p.Rule})
		return
	}
	Inform(s, "/permissions", func() (string, error) { return c.Rules.Remove(p) }, func(file string) {
		s.Command(event.RemoveRule{Rule: p.Rule})
		s.Say("deleted from " + file)
	})
}

// permissionsText is the list for plain mode.
func permissionsText(all []Permission) string {
	if len(all) == 0 {
		return "no rules: the mode alone decides · s in an approval adds one for the session, [[allow]], [[ask]] and [[deny]] in your settings for all"
	}
	text := "rules that apply, deny before ask before allow:"
	for i, p := range all {
		text += fmt.Sprintf("\n%3d  %s · %s", i+1, p.Text(), p.From())
	}
	return text + "\n/permissions delete N deletes one, also from its file"
}
