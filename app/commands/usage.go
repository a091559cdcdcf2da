package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/adrg/xdg"

	"buddy/agent/model"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/sessions"
	"buddy/texts"
	"buddy/tools"
)

func init() {
	add(slash.Command{
		Name: "usage", Means: []string{"cost", "costs", "tokens", "quota", "spend", "money", "stats", "telemetry", "otel"}, Args: "[--since 7d] [--by model|project|day]",
		Brief: "show tokens and cost of all sessions", Early: true,
		Help: "show the tokens and the cost of all sessions of the last 30 days; --since takes a time such as 7d, or a date; docs/telemetry.md sends the numbers to OpenTelemetry",
	}, func(_ context.Context, s *Session, args []string) (show.Answer, error) {
		since, by, err := usageArgs(args)
		if err != nil {
			return show.Answer{}, err
		}
		u, err := UsageOf(s.Setup.Store, since, by, time.Now())
		if err != nil {
			return show.Answer{}, err
		}
		d := u.document()
		if s.Now != nil && len(s.Now.Limits) > 0 {
			d.Sections = append(d.Sections, limitsOf(s.Now.Limits, time.Now()))
		}
		return show.Answer{Document: d}, nil
	})
}

// UsageGroups lists what usage can be summed by.
var UsageGroups = []string{"model", "project", "day"}

// UsageTime holds the default of --since.
const UsageTime = "30d"

// usageArgs reads the arguments of /usage.
func usageArgs(args []string) (since, by string, err error) {
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		if !joined && i+1 < len(args) {
			i++
			value = args[i]
		}
		switch {
		case name == "--since" && value != "":
			since = value
		case name == "--by" && value != "":
			by = value
		default:
			return "", "", fmt.Errorf("unknown argument %q (have: --since 7d and --by %s)", args[i], strings.Join(UsageGroups, "|"))
		}
	}
	return since, by, nil
}

// Usage holds the requests of all sessions since a day, by model, project or day.
type Usage struct {
	Since string     `json:"since"` // the first day, as 2006-01-02
	By    string     `json:"by"`
	Rows  []UsageRow `json:"rows"` // the most expensive first, days from the newest
	Total UsageRow   `json:"total"`
}

// UsageRow holds the sums of a model, a project or a day. The fields that name the other two are empty.
type UsageRow struct {
	Project string `json:"project,omitempty"` // its folder
	sessions.Use
}

// UsageOf sums up the requests of the sessions of all projects, and of the store here even if it is not in the list of
// projects. since is a time such as 7d, which includes today, or a date; "" is 30d. by is one of [UsageGroups], "" is
// the first one.
func UsageOf(here sessions.Store, since, by string, now time.Time) (Usage, error) {
	u := Usage{By: cmp.Or(by, UsageGroups[0])}
	if !slices.Contains(UsageGroups, u.By) {
		return u, fmt.Errorf("unknown group %q (have: %s)", by, strings.Join(UsageGroups, ", "))
	}
	first, err := firstDay(cmp.Or(since, UsageTime), now)
	if err != nil {
		return u, err
	}
	u.Since = first.Format(time.DateOnly)
	all, err := sessions.Folders()
	if !slices.ContainsFunc(all, func(s sessions.Store) bool { return s.Path() == here.Path() }) {
		all = append(all, here)
	}
	rows := make(map[string]*UsageRow)
	for _, store := range all {
		uses, bad := sessions.Uses(store)
		err = errors.Join(err, bad)
		project := cmp.Or(sessions.Project(store), store.Path())
		for _, one := range uses {
			if one.Day >= u.Since {
				u.add(rows, project, one)
			}
		}
	}
	for _, r := range rows {
		u.Rows = append(u.Rows, *r)
	}
	slices.SortFunc(u.Rows, func(a, b UsageRow) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(b.Cost, a.Cost), cmp.Compare(b.Prompt+b.Completion, a.Prompt+a.Completion), cmp.Compare(u.name(a), u.name(b)))
	})
	return u, err
}

// add adds a use to its row and to the total.
func (u *Usage) add(rows map[string]*UsageRow, project string, one sessions.Use) {
	row := UsageRow{}
	switch u.By {
	case "model":
		row.Model = one.Model
	case "project":
		row.Project = project
	case "day":
		row.Day = one.Day
	}
	key := u.name(row)
	if rows[key] == nil {
		rows[key] = &row
	}
	rows[key].Add(one)
	u.Total.Add(one)
}

// name returns the model, project or day of a row.
func (u *Usage) name(r UsageRow) string {
	switch u.By {
	case "project":
		return r.Project
	case "day":
		return r.Day
	}
	return cmp.Or(r.Model, "unknown model")
}

// firstDay returns the start of the first day of a time such as 7d, which includes today, or of a date.
func firstDay(since string, now time.Time) (time.Time, error) {
	if day, err := time.ParseInLocation(time.DateOnly, since, now.Location()); err == nil {
		return day, nil
	}
	d, err := tools.ParseDuration(since)
	if err != nil {
		return now, fmt.Errorf("%w, or a date such as %s", err, now.Format(time.DateOnly))
	}
	days := max(1, int(d.Hours()+23)/24)
	return time.Date(now.Year(), now.Month(), now.Day()-days+1, 0, 0, 0, 0, now.Location()), nil
}

// document returns the rows and the total, with a tab for each group.
func (u *Usage) document() *show.Document {
	d := &show.Document{Title: usageTitle(u.By), Usage: "--by day, --by project and --since 7d choose what to show"}
	for _, group := range UsageGroups {
		d.Tabs = append(d.Tabs, show.Deed{Label: usageTitle(group), Run: []string{"usage", "--since=" + u.Since, "--by=" + group}})
	}
	rows := show.Section{Title: "Usage since " + u.Since}
	for _, r := range u.Rows {
		name := u.name(r)
		if u.By == "project" {
			name = texts.WithTilde(name, xdg.Home)
		}
		rows.Values = append(rows.Values, show.Value{Label: name, Text: numbers(r.Use)})
	}
	rows.Values = append(rows.Values, show.Value{Label: "total", Text: numbers(u.Total.Use)})
	d.Sections = []show.Section{rows}
	return d
}

func usageTitle(group string) string { return "By " + group }

// numbers describes a use in a line: first the cost, if it is known.
func numbers(u sessions.Use) string {
	if u.Requests == 0 {
		return "no requests"
	}
	text := fmt.Sprintf("%s · %s tokens in", texts.Plural(u.Requests, "request"), texts.Count(u.Prompt))
	if u.Cached > 0 && u.Prompt > 0 {
		text += fmt.Sprintf(" (%d%% cached)", 100*u.Cached/u.Prompt)
	}
	text += fmt.Sprintf(", %s out", texts.Count(u.Completion))
	switch {
	case u.Cost > 0 && u.Unpriced > 0:
		text = fmt.Sprintf("≥ %s · %s · %d without a known price", u.Cost, text, u.Unpriced)
	case u.Cost > 0:
		text = u.Cost.String() + " · " + text
	}
	return text
}

// limitsOf describes the rate limits that the provider reported with its last answer.
func limitsOf(all []model.RateLimit, now time.Time) show.Section {
	part := show.Section{Title: "Rate limits, as of the last answer"}
	for _, l := range all {
		text := fmt.Sprintf("%d%% used · %s of %s left", l.Percent(), texts.Count(int(l.Remaining)), texts.Count(int(l.Limit)))
		if wait := time.UnixMilli(l.Reset).Sub(now); l.Reset > 0 && wait > 0 {
			text += " · resets in " + wait.Round(time.Second).String()
		}
		part.Values = append(part.Values, show.Value{Label: l.Of, Text: text})
	}
	return part
}
