package ui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/show"
	"buddy/app/slash"
)

// testDocuments returns the answers of /status, /context and /config.
func testDocuments() map[string]show.Document {
	tabs := []show.Deed{{Label: "Status", Run: []string{"status"}}, {Label: "Context", Run: []string{"context"}}, {Label: "Config", Run: []string{"config"}}}
	long := "run_shell, read_file, write_file, edit_file, apply_patch, glob, grep, fetch_url, web_search, todo, ask_user, agent, tool_search, use_tool"
	set := func(key string, words ...string) []string { return append([]string{"config", "set", key}, words...) }
	var tools []show.Value
	for i := range 40 {
		tools = append(tools, show.Value{
			Label: fmt.Sprintf("limit_%d", i), Text: fmt.Sprint(i), From: "default", BuiltIn: true, Line: fmt.Sprintf("tools.limit_%d: A limit.", i),
			Deeds: []show.Deed{{Label: "change it", Run: set("tools.limit"), Edit: fmt.Sprint(i), Typed: true}},
		})
	}
	return map[string]show.Document{
		"status": {Title: "Status", Tabs: tabs, Sections: []show.Section{
			{Title: "Session", Values: []show.Value{{Label: "Id", Text: "7f3a-11"}, {Label: "Folder", Text: "/srv/shop\x1b[2J"}, {Label: "Target", Text: "local"}}},
			{Title: "Model", Values: []show.Value{{Label: "Model", Text: "gpt-5 (responses)"}, {Label: "Window", Text: "400k tokens"}, {Label: "Tools", Text: long}}},
		}},
		"context": {Title: "Context", Tabs: tabs, Sections: []show.Section{
			{Title: "Window", Values: []show.Value{{Label: "Used", Text: "12k of 400k tokens (3 %)"}, {Label: "Messages", Text: "14"}}},
			{Title: "Parts", Values: []show.Value{{Label: "System prompt", Text: "3.1k · 25 %"}, {Label: "Results", Text: "9.0k · 75 %"}}},
		}},
		"config": {Title: "Config", Tabs: tabs, Sections: []show.Section{
			{Title: "Settings files, highest priority first", Values: []show.Value{{Label: "user", Text: "~/.config/buddy/buddy.toml · used"}}},
			{Title: "ui", Values: []show.Value{
				{Label: "theme", Text: "light", From: "--theme", Line: "ui.theme is set in --theme, which has priority over your file: change it there"},
				{Label: "mouse", Text: "true", From: "~/.config/buddy/buddy.toml:3", Line: "ui.mouse: Whether buddy uses the mouse.", Deeds: []show.Deed{{Label: "false", Run: set("ui.mouse", "false")}}},
				{Label: "notify", Text: "bell", From: "default", BuiltIn: true, Line: "ui.notify: How to notify you.", Deeds: []show.Deed{
					{Label: "bell (now)", Run: set("ui.notify", "bell")}, {Label: "off", Run: set("ui.notify", "off")},
				}},
			}},
			{Title: "tools", Values: tools},
		}},
	}
}

// Status, context and settings are tabs of one dialog of constant size; typing searches, and long tabs scroll.
func TestTabsOfDocuments(t *testing.T) {
	for _, size := range [][2]int{{120, 32}, {80, 24}, {40, 12}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := open(t, size[0], size[1])
				golden := func(name string) {
					if size[0] > 40 {
						x.golden(name)
					}
				}
				x.shown = testDocuments()
				x.Type("/status\n")
				x.Want("Status", "7f3a-11", "/srv/shop")
				x.unwanted("\x1b")
				golden("document-status")
				x.Press("Tab")
				x.Want("12k of 400k")
				x.unwanted("7f3a-11")
				golden("document-context")
				x.Press("Right")
				x.Want("~/.config", "ui.theme is set in --theme")
				golden("document-config")
				x.Press("End")
				x.Want("limit_39")
				x.Press("Shift+Tab", "Left", "Left")
				x.Want("ui.theme is set")
				x.Type("NOTIFY ui")
				x.Want("notify", "ui.notify: How")
				x.unwanted("mouse")
				x.Type(" nonesuch")
				x.Want("No match")
				x.Press("Enter", "Ctrl+U", "Esc")
				x.unwanted("ui.theme")
			})
		})
	}
}

// Enter changes a value: toggles it, offers choices, or asks for a line. A fixed value explains why, and errors show in
// the dialog.
func TestValuesAreChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 80, 24)
		x.shown = testDocuments()
		x.Type("/config\n")
		x.Settle()
		x.Press("Enter")
		x.Want("which has priority over your file: change it")
		x.Press("Down", "Enter")
		x.Want("config set done")
		x.Type("notify\n")
		x.Want("ui.notify: How to notify you.", "1  bell (now)", "2  off", "3  cancel")
		x.golden("document-choice")
		x.decide("2")
		x.Want("config set done", "> notify")
		x.Press("Ctrl+U")
		x.Type("limit_7\n")
		x.Want("limit_7: 7")
		x.golden("document-line")
		x.Type("0")
		x.Paste(" 1\n2 ")
		x.Press("Enter")
		x.Want("config set done")
		x.Press("Enter", "Esc")
		x.Want("> limit_7")
		x.Settle()
		if want := []string{"config set ui.mouse false", "config set ui.notify off", "config set tools.limit 701 2"}; !slices.Equal(x.ran, want) {
			t.Errorf("ran %q, want %q", x.ran, want)
		}
		run := x.u.deps.Run
		x.u.deps.Run = func(now slash.Now, words []string) (show.Answer, error) {
			if len(words) > 1 {
				return show.Answer{}, errors.New("tools.limit: not a number; nothing was changed")
			}
			return run(now, words)
		}
		x.Press("Enter", "Enter")
		x.Want("tools.limit: not a number; nothing was changed")
		x.feed(event.Notice{Text: "something else"}) // other events leave the dialog alone
		x.Want("> limit_7")
		x.u.deps.Run = run
		x.Press("Esc")
		x.Type("/config edit\n")
		x.Settle()
		if got := strings.Join(x.opened, ","); got != "/home/ann/buddy.toml:0" {
			t.Errorf("opened %q", got)
		}
	})
}

// /usage ends with the rate limits that the provider reported.
func TestUsageShowsRateLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 24)
		x.feed(event.MetricsUsage{Limits: []model.RateLimit{{Of: "requests", Limit: 60, Remaining: 3}}})
		x.Type("/usage\n")
		x.Want("Rate limits, as of the last answer")
		x.Want("95% used · 3 of 60 left")
	})
}
