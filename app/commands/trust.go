package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"buddy/app/compose"
	"buddy/app/project"
	"buddy/app/show"
	"buddy/app/slash"
)

func init() {
	add(slash.Command{
		Name: "trust", Args: "[ID|all|forget ID]", Brief: "review and trust this project's files", Early: true,
		Help: "review and trust this project's hooks, servers and settings",
	}, onTrust)
}

// onTrust lists the parts of the project that need trust, or trusts the items with the given ids; the verb forget ends
// their trust. The session then restarts with the trusted parts. The verbs set, unset and diff are run from the list,
// which runs apply when it closes.
func onTrust(_ context.Context, s *Session, args []string) (show.Answer, error) {
	verb := ""
	if len(args) > 0 {
		verb = args[0]
	}
	switch busy := s.busy(); {
	case verb == "diff":
		return trustDiff(s, args[1:])
	case verb == "apply" && busy != nil:
		return show.Say("your decisions apply when the session restarts, which it can't do yet: " + busy.Error()), nil
	case busy != nil:
		return show.Answer{}, busy
	case verb == "apply":
		return s.again(), nil
	case verb == "set" || verb == "unset":
		return show.Answer{}, setTrust(s, verb == "set", args[1:])
	case verb == "forget":
		return s.again(), setTrust(s, false, args[1:])
	case verb != "":
		return s.again(), setTrust(s, true, args)
	}
	return listTrust(s)
}

// listTrust lists the parts of the project that need trust. If there are only settings, it trusts the folder.
func listTrust(s *Session) (show.Answer, error) {
	all, err := s.Setup.Project().Items()
	if err != nil || !settingsAlone(all) {
		return show.Answer{List: trustList(s.Setup, all)}, err
	}
	text, err := s.Setup.Project().TrustFolder()
	if err != nil || text != "" {
		return show.Say(text), err
	}
	return s.again(), nil
}

// setTrust trusts the items with the given ids, or ends their trust.
func setTrust(s *Session, on bool, ids []string) error {
	all, err := s.Setup.Project().Items()
	if err != nil {
		return err
	}
	chosen, err := chosenItems(all, ids)
	if err != nil {
		return err
	}
	return s.Setup.Project().SetTrust(on, chosen)
}

// trustDiff shows how items have changed since they were trusted.
func trustDiff(s *Session, ids []string) (show.Answer, error) {
	all, err := s.Setup.Project().Items()
	if err != nil {
		return show.Answer{}, err
	}
	chosen, err := chosenItems(all, ids)
	if err != nil {
		return show.Answer{}, err
	}
	diff, err := s.Setup.Project().PartDiff(chosen[0])
	return show.Answer{Text: &show.Text{Title: chosen[0].Title(), Body: diff, Form: show.Diff}}, err
}

// again restarts the session with the changed files.
func (s *Session) again() show.Answer {
	return show.Answer{Leave: &show.Leave{Session: s.Setup.Current()}}
}

// settingsAlone reports whether the project has nothing to trust except untrusted settings. Such settings are trusted
// without a list.
func settingsAlone(all []project.Item) bool {
	return len(all) == 0 || len(all) == 1 && all[0].Kind == project.SettingsKind && all[0].Waits()
}

// trustID returns an id for an item. The id changes with the content of the item.
func trustID(i project.Item) string { return show.IDOf(i.Dir, i.Kind, i.Name, i.Print) }

func chosenItems(all []project.Item, ids []string) ([]project.Item, error) {
	var chosen []project.Item
	for _, id := range ids {
		i := slices.IndexFunc(all, func(i project.Item) bool { return trustID(i) == id })
		switch {
		case id == "all": // plain mode replaces "all" by the ids that it has shown
			return nil, errors.New("look at the list first: /trust")
		case i < 0:
			return nil, fmt.Errorf("%q is not in the list, or it changed after you opened the list; run /trust again", id)
		default:
			chosen = append(chosen, all[i])
		}
	}
	if len(chosen) == 0 {
		return nil, errors.New("/trust needs a number from the list, or all")
	}
	return chosen, nil
}

// waiting returns the items that could be trusted but are not.
func waiting(all []project.Item) []project.Item {
	return slices.DeleteFunc(slices.Clone(all), func(i project.Item) bool { return !i.Waits() })
}

// trustList lists items, after a row that trusts all waiting items.
func trustList(setup *compose.Setup, all []project.Item) *show.List {
	list := show.List{
		Title: "This project's hooks, servers and settings", Columns: []string{"what", "runs", "state"}, Done: []string{"trust", "apply"},
		Usage: "/trust N trusts an item as shown here, /trust all trusts all of them. /trust forget N revokes your trust.",
	}
	if some := waiting(all); len(some) > 1 {
		r := show.Row{ID: "all", Cells: []string{fmt.Sprintf("all %d untrusted", len(some)), "", ""}, Title: fmt.Sprintf("Trust these %d?", len(some)), Whole: true}
		run := []string{"trust", "set"}
		for _, i := range some {
			r.More = append(append(r.More, i.Lines...), "")
			run = append(run, trustID(i))
		}
		r.Deeds = []show.Deed{{Label: "trust all", Run: run}}
		list.Rows = append(list.Rows, r)
	}
	for _, i := range all {
		list.Rows = append(list.Rows, trustRow(setup, i))
	}
	return &list
}

// trustRow returns the list row of an item, with everything a person should know before trusting it.
func trustRow(setup *compose.Setup, i project.Item) show.Row {
	r := show.Row{ID: trustID(i), Cells: []string{i.Title(), i.Runs, string(i.State)}, Mark: i.State == project.Trusted, More: i.Lines, Title: "Trust " + i.Title() + "?"}
	do := func(label, verb string) {
		r.Deeds = append(r.Deeds, show.Deed{Label: label, Run: []string{"trust", verb, r.ID}})
	}
	switch i.State {
	case project.Untrustable:
		r.Title = i.Title() + " can't be trusted"
	case project.Trusted:
		r.Title = i.Title() + " is trusted"
		do("stop trusting it", "unset")
	case project.Changed:
		r.Title, r.Whole = i.Title()+" changed since you trusted it", true
		do("trust the current version", "set")
		do("show the changes", "diff")
		if diff, err := setup.Project().PartDiff(i); err == nil && diff != "" {
			r.More = append(slices.Clone(r.More), strings.Split(strings.TrimSpace(diff), "\n")...)
		}
	default:
		r.Whole = true
		do("trust it", "set")
	}
	return r
}
