package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/views/markup"
)

// testMemory is the list of a memory with a proposal, which must be shown in full, and three entries.
func testMemory() show.List {
	row := func(id, text, kind, scope, state string, deeds ...show.Deed) show.Row {
		return show.Row{
			ID: id, Cells: []string{text, kind, scope, state}, Deeds: deeds,
			More: []string{id + "  rule  in this folder", "  2026-11-20 12:00  denied:run_shell  npm install a → use pnpm  session 7f3a, call c1"},
		}
	}
	do := func(label, verb, id string) show.Deed {
		return show.Deed{Label: label, Run: []string{"memory", verb, id}}
	}
	proposed := row("p-9x1a2b", "Always run the linter\x1b[2J.", "rule", "this folder", "proposed", do("accept it", "accept", "p-9x1a2b"), do("reject it for good", "reject", "p-9x1a2b"))
	proposed.Mark, proposed.Whole, proposed.Title = true, true, "Proposed: Always run the linter\x1b[2J."
	edit := do("edit it", "edit", "r-55f9")
	edit.Edit = "Answer in one sentence."
	return show.List{
		Title: "Memory", Columns: []string{"text", "kind", "scope", "state"}, Empty: "memory is empty", Rows: []show.Row{
			proposed,
			row("r-55f9", "Answer in one sentence.", "rule", "you", "", edit, do("forget it", "forget", "r-55f9")),
			row("r-81qp", "Never restart nginx on web-* before `nginx -t` passed, and never while a deploy runs.", "rule", "the team", "on web-*", do("forget it", "forget", "r-81qp")),
			row("c-qr5k", "Not `npm install`: use pnpm.", "correction", "this folder", "not in effect: r-81qp says the opposite", do("edit it", "edit", "c-qr5k"), do("forget it", "forget", "c-qr5k")),
		},
	}
}

// A list shows all of a row before one of its deeds is chosen, lets the user edit a deed's argument, and is read again
// after a deed.
func TestListOfACommand(t *testing.T) {
	for _, size := range [][2]int{{120, 32}, {80, 24}, {40, 12}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := open(t, size[0], size[1])
				x.lists = map[string]show.List{"memory": testMemory()}
				x.u.deps.Edit = func(_, text string) (string, error) { return strings.Replace(text, "one", "two", 1) + "\n", nil }
				x.Type("/memory\n")
				x.Want("Memory · 4", "Always run the linter", "Answer in one")
				x.unwanted("\x1b")
				if size[0] > 40 {
					x.golden("memory-list")
				}
				x.Press("Enter")
				x.Want("Proposed: Always", "1  accept it", "2  reject it", "3  cancel")
				if size[0] > 40 {
					x.Want("npm install a → use pnpm", "session 7f3a", "call c1")
					x.golden("memory-proposal")
				}
				x.decide("2")
				x.Want("memory reject done")
				x.unwanted("a diff")
				x.Type("one sentence\n")
				x.Want("1  edit it", "2  forget it")
				x.decide("1")
				x.Want("memory edit done")
				x.Press("Ctrl+U")
				x.Type("pnpm\n")
				gone := testMemory()
				gone.Rows = gone.Rows[:3]
				x.lists["memory"] = gone
				x.decide("2")
				x.Want("Memory · 1 of 3", "memory forget done")
				x.Press("Esc", "Esc")
				x.Settle()
				if want := []string{"memory reject p-9x1a2b", "memory edit r-55f9 Answer in two sentence.", "memory forget c-qr5k"}; !slices.Equal(x.ran, want) {
					t.Errorf("ran %q, want %q", x.ran, want)
				}
			})
		})
	}
}

// A command with arguments shows its text in the conversation.
func TestTextOfACommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.Type("/remember --scope team Use sqlc.\n")
		x.Want("remember --scope done")
		if want := []string{"remember --scope team Use sqlc."}; !slices.Equal(x.ran, want) {
			t.Errorf("ran %q, want %q", x.ran, want)
		}
	})
}

// testServers is a list that changes by itself.
func testServers() show.List {
	row := func(name, state, tools, err string, more []string, deeds ...show.Deed) show.Row {
		r := show.Row{ID: name, Cells: []string{name, state, tools, err}, Mark: state != "off", Title: name + " is " + state, More: more, Deeds: deeds}
		if err != "" {
			r.Line = name + ": " + err
		}
		return r
	}
	do := func(label, verb, name string) show.Deed {
		return show.Deed{Label: label, Run: []string{"mcp", verb, name}}
	}
	return show.List{
		Title: "MCP servers", Columns: []string{"name", "state", "tools", "last error"}, Changes: true, Empty: "none: buddy mcp add adds one",
		Rows: []show.Row{
			row("docs", "starting", "–", "", []string{"docs  starting  http"}, do("start it again", "restart", "docs"), do("switch it off", "off", "docs")),
			row("gone", "failed", "–", "it exited with status 3: no database", []string{"gone  failed", "  the end of its log:", "    no database"}, do("start it again", "restart", "gone"), do("switch it off", "off", "gone")),
			row("evil\x1b[2J\u202e", "ready", "14", "", []string{"evil", "    Reads a \x1b[31mfile."}),
			row("theirs", "off", "–", "not run: the project is on web-02", []string{"theirs  off"}),
		},
	}
}

// A list whose rows change by themselves is read again while it is open, and only then. A row without a deed shows its
// details.
func TestListThatChanges(t *testing.T) {
	for _, size := range [][2]int{{120, 32}, {80, 24}, {40, 12}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := open(t, size[0], size[1])
				x.lists = map[string]show.List{"mcp": testServers()}
				x.Type("/mcp\n")
				x.Want("MCP servers · 4", "▸*docs", "evil␛[2J", "gone", "failed")
				x.lists["mcp"].Rows[0].Cells[1], x.lists["mcp"].Rows[0].Cells[2] = "ready", "3"
				x.feed(event.MCPServer{Server: "docs", State: "ready", Tools: 3})
				x.Want("3")
				x.unwanted("starting")
				x.Press("Down")
				x.Want("gone: it exited with status 3")
				x.Press("Enter")
				if size[0] > 40 {
					x.Want("no database")
				}
				x.Want("gone is failed", "1  start it again", "2  switch it off", "3  cancel")
				x.decide("1")
				x.Want("MCP servers · 4")
				x.Press("End", "Enter")
				x.Want("theirs is off", "1  cancel")
				x.unwanted("switch it")
				x.Press("Esc")
				x.Press("Esc")
				x.unwanted("MCP servers")
				delete(x.lists, "mcp")
				x.feed(event.MCPServer{Server: "docs", State: "failed"}) // the list is closed
				if x.Settle(); !slices.Equal(x.ran, []string{"mcp restart gone"}) {
					t.Errorf("ran %q", x.ran)
				}
				x.lists["mcp"] = show.List{Title: "MCP servers", Empty: "none: buddy mcp add adds one"}
				x.Type("/mcp\n")
				x.Want("none: buddy mcp add")
			})
		})
	}
}

// A deed that needs the whole row to be seen waits until its end was on the screen.
func TestDeedThatNeedsAllToBeSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 80, 24)
		list := testServers()
		list.Rows = list.Rows[:1]
		list.Rows[0].Whole, list.Rows[0].More = true, append(slices.Repeat([]string{"a line"}, 60), strings.Repeat("long ", 9)+"THE END")
		list.Rows[0].Deeds = []show.Deed{{Label: "let the model read it", Run: []string{"mcp", "read", "docs"}}}
		x.lists = map[string]show.List{"mcp": list}
		x.Type("/mcp\n")
		x.Settle()
		x.Press("Enter")
		x.Want("docs is starting", "1  let the model read")
		x.decide("1")
		x.Want("you haven't seen")
		for range 20 {
			x.Press("PgDn")
		}
		x.Want("THE END")
		x.decide("1")
		if x.Settle(); !slices.Equal(x.ran, []string{"mcp read docs"}) {
			t.Errorf("ran %q", x.ran)
		}
	})
}

// The decisions in a list take effect when it closes, and only if there were any.
func TestListThatTakesEffectWhenItCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		list := show.List{Title: "What this project runs", Columns: []string{"what", "state"}, Done: []string{"trust", "apply"}, Rows: []show.Row{
			{ID: "a", Cells: []string{"hook Stop", "changed"}, More: []string{"runs: sh x.sh"}, Deeds: []show.Deed{
				{Label: "trust the current version", Run: []string{"trust", "set", "a"}}, {Label: "show the changes", Run: []string{"diff"}},
			}},
		}}
		x.lists = map[string]show.List{"trust": list}
		x.diff = markup.FileMark + "x.sh  +1 -1 lines, 9 bytes\n@@ -1 +1 @@\n-fine\n+evil\n"
		x.Type("/trust\n")
		x.Settle()
		x.Press("Enter")
		x.Want("runs: sh x.sh", "2  show the changes")
		x.decide("2")
		x.Want("1 - fine", "1 + evil")
		x.Press("Esc")
		x.Want("What this project runs")
		x.Press("Esc")
		if x.Settle(); !slices.Equal(x.ran, []string{"diff"}) {
			t.Errorf("ran %q", x.ran)
		}
		x.Type("/trust\n")
		x.Settle()
		x.Press("Enter")
		x.decide("1")
		x.Want("What this project runs")
		x.Press("Esc")
		if x.Settle(); !slices.Equal(x.ran, []string{"diff", "trust set a", "trust apply"}) {
			t.Errorf("ran %q", x.ran)
		}
		if want := (slash.Next{Again: true, Resume: "7f3a-0000"}); x.left != want {
			t.Errorf("left %+v, want %+v", x.left, want)
		}
	})
}
