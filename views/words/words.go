// Package words describes tool calls, approvals and outcomes in words for the user. Like the calls, the words are
// untrusted.
//
//	c := words.Call{Name: "read_file", Arguments: `{"path":"a.go"}`, Action: act, Cwd: "/w"}
//	verb, subject := c.Words() // read, a.go
package words

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strings"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/texts"
	"buddy/views/draw"
)

// Call describes a tool call.
type Call struct {
	Name      string // of the tool, as in the call
	Arguments string // JSON, or what the model wrote instead
	Action    action.Action
	Cwd       string // files below it are named relative to it; "" for none
}

// Of returns the call of an event.
func Of(p event.ToolRequested) Call {
	return Call{Name: p.Name, Arguments: p.Arguments, Action: p.Action}
}

// Asked returns the call of an approval, without the arguments, which an approval does not have.
func Asked(a event.ApprovalAsked) Call { return Call{Name: a.Action.Tool, Action: a.Action} }

// Look is a way to look at files. Consecutive calls of this kind are shown as counts.
type Look uint8

// Ways to look at files.
const (
	NoLook Look = iota
	Reads
	Searches
	Lists
)

// row is the wording of a tool's calls.
type row struct {
	verb    string // "" if the subject suffices
	subject func(c Call, a args) string
	look    Look
	changes bool // it changes files
}

// tools holds the wording of built-in tools. The others are shown by their name and arguments.
var tools = map[string]row{
	"run_shell":           {subject: command},
	"read_file":           {verb: "read", subject: file, look: Reads},
	"list_dir":            {verb: "list", subject: file, look: Lists},
	"glob":                {verb: "find", subject: within("pattern"), look: Searches},
	"grep":                {verb: "search", subject: within("pattern"), look: Searches},
	"write_file":          {verb: "write", subject: file, changes: true},
	"edit_file":           {verb: "edit", subject: file, changes: true},
	"apply_patch":         {verb: "edit", subject: file, changes: true},
	"fetch_url":           {verb: "fetch", subject: address},
	"web_search":          {verb: "search the web for", subject: argument("query")},
	"time":                {verb: "get the time", subject: nothing},
	"todo":                {verb: "plan", subject: steps},
	"ask_user":            {verb: "ask", subject: question},
	"agent":               {verb: "agent", subject: agent},
	"tool_search":         {verb: "search for tools", subject: argument("query")},
	"use_tool":            {verb: "use a tool", subject: argument("name")}, // the call names no tool
	"capture-pane":        {verb: "view", subject: pane},
	"send-keys":           {verb: "type", subject: typed},
	"enter_plan":          {verb: "start plan mode", subject: nothing},
	"exit_plan":           {verb: "propose the plan", subject: nothing},
	"remember":            {verb: "propose to remember", subject: argument("text")},
	"skill":               {verb: "load the skill", subject: argument("name")},
	"task_output":         {verb: "view", subject: task},
	"task_kill":           {verb: "stop", subject: task},
	"tmux_create_pane":    {verb: "open a pane", subject: argument("title", "command")},
	"tmux_create_session": {verb: "open the shell pane", subject: nothing},
	"tmux_kill_pane":      {verb: "close", subject: pane},
	"tmux_kill_session":   {verb: "close the session", subject: argument("session")},
	"diagnostics":         {verb: "ask language servers", subject: argument("path")},
	"code":                {verb: "ask language servers", subject: argument("symbol", "path")},
	"mcp_resources":       {verb: "list resources", subject: argument("server", "query")},
	"mcp_read":            {verb: "read", subject: argument("uri")},
}

// titles maps tools to titles of their approvals, where the verb alone is not enough.
var titles = map[string]string{
	"run_shell": "run a command", "edit_file": "change a file", "apply_patch": "change files", "write_file": "write a file",
	"fetch_url": "fetch a page", "send-keys": "type into a pane", "tmux_kill_pane": "close a pane", "skill": "load a skill",
	"web_search": "search the web", "task_kill": "stop a command", "read_file": "read a file", "remember": "remember something",
}

// Title describes in general words, without details, an action that needs approval.
func Title(act action.Action) string {
	if title := titles[act.Tool]; title != "" {
		return title
	}
	if r, known := tools[act.Tool]; known && r.verb != "" {
		return r.verb
	}
	if act.Kind == action.MCP && act.Op != "" {
		return texts.OneLine(act.Op)
	}
	return texts.OneLine(plainName(act.Tool))
}

// reached returns the call that use_tool makes, or c itself.
func (c Call) reached() Call {
	if c.Name != "use_tool" {
		return c
	}
	name := cmp.Or(c.Action.Tool, strings.TrimSpace(c.args()["name"]))
	if name == "" || name == "use_tool" {
		return c
	}
	c.Name, c.Arguments = name, innerArguments(c.Arguments)
	return c
}

// Tool returns the name of the called tool; for use_tool, the name of the inner tool.
func (c Call) Tool() string { return c.reached().Name }

// Words returns the action and its object, each on one line. One of them may be empty.
func (c Call) Words() (verb, subject string) {
	c = c.reached()
	switch r, known := tools[c.Name]; {
	case known:
		return r.verb, r.subject(c, c.args())
	case c.Action.Kind == action.MCP && c.Action.Op != "":
		return texts.OneLine(c.Action.Op), c.argumentLine()
	}
	act := &c.Action
	name := texts.OneLine(plainName(c.Name))
	if about := cmp.Or(act.Command, c.near(act.Path), act.URL, act.Op); about != "" {
		return name, draw.FirstLine(about)
	}
	return name, c.argumentLine()
}

// Line returns the words of a call as one line.
func (c Call) Line() string {
	verb, subject := c.Words()
	return strings.TrimSpace(verb + " " + subject)
}

// Look returns the way in which a call looks at files.
func (c Call) Look() Look { return tools[c.Tool()].look }

// Changes reports whether a call changes files.
func (c Call) Changes() bool { return tools[c.Tool()].changes }

// plainName returns "server: tool" for a tool of an MCP server, other names unchanged.
func plainName(name string) string {
	if server, tool, ok := strings.Cut(strings.TrimPrefix(name, "mcp__"), "__"); ok && server != "" && tool != "" {
		return server + ": " + tool
	}
	return cmp.Or(name, "a tool without a name")
}

func nothing(Call, args) string { return "" }

func command(c Call, a args) string {
	return draw.FirstLine(cmp.Or(c.Action.Command, a["command"], "a command"))
}

// near returns a path, relative to the session's folder if it is in that folder.
func (c Call) near(name string) string {
	if rel, ok := strings.CutPrefix(name, strings.TrimSuffix(c.Cwd, "/")+"/"); ok && c.Cwd != "" && rel != "" {
		return draw.FirstLine(rel)
	}
	if c.Cwd != "" && path.Clean(name) == path.Clean(c.Cwd) {
		return "."
	}
	return draw.FirstLine(name)
}

// planFile matches the path of a session's plan.
var planFile = regexp.MustCompile(`/[0-9a-f]{4}(-[0-9a-f]{4}){3}/plan\.md$`)

func file(c Call, a args) string {
	name := cmp.Or(c.Action.Path, a["path"], "a file")
	if planFile.MatchString(name) {
		return "the plan"
	}
	text := c.near(name)
	if more := len(c.Action.Paths) - 1; more > 0 {
		text += " and " + texts.Plural(more, "more file")
	}
	return text
}

// within returns a function that describes a search: the argument name and, unless it is the session's folder, the
// searched folder.
func within(name string) func(Call, args) string {
	return func(c Call, a args) string {
		text := draw.FirstLine(a[name])
		if folder := c.near(cmp.Or(c.Action.Path, a["path"])); folder != "" && folder != "." {
			text += " in " + folder
		}
		return text
	}
}

func argument(names ...string) func(Call, args) string {
	return func(_ Call, a args) string {
		var all []string
		for _, n := range names {
			if text := draw.FirstLine(a[n]); text != "" {
				all = append(all, text)
			}
		}
		return strings.Join(all, ": ")
	}
}

func address(c Call, a args) string { return draw.FirstLine(cmp.Or(a["url"], c.Action.URL)) }

func question(c Call, a args) string { return texts.OneLine(cmp.Or(c.Action.Preview, a["question"])) }

func agent(c Call, a args) string {
	return texts.OneLine(cmp.Or(c.Action.Op, strings.TrimSpace(a["type"]+" "+a["title"])))
}

func pane(_ Call, a args) string {
	if a["pane"] == "" {
		return "the shell pane"
	}
	return "pane " + draw.FirstLine(a["pane"])
}

func typed(c Call, a args) string {
	text := draw.FirstLine(cmp.Or(c.Action.Command, a["literal_text"], a["keys"]))
	return strings.TrimSpace(text + " into " + pane(c, a))
}

func task(c Call, a args) string {
	if id := a["id"]; id != "" {
		return "task #" + draw.FirstLine(id)
	}
	return pane(c, a)
}

// steps describes the progress of the list that a call writes, and the present step.
func steps(c Call, _ args) string {
	done, all, now := stepsOf(c.Arguments)
	if all == 0 {
		return "no steps"
	}
	if now != "" {
		now = " · " + now
	}
	return fmt.Sprintf("%d/%d", done, all) + now
}

// stepsOf counts the steps in the arguments of the tool todo, and returns the present one, "" if all are done.
func stepsOf(arguments string) (done, all int, now string) {
	var list struct {
		Items []struct{ Text, State string }
	}
	if json.Unmarshal([]byte(arguments), &list) != nil {
		return 0, 0, ""
	}
	for _, i := range list.Items {
		switch {
		case i.State == "completed":
			done++
		case now == "" || i.State == "in_progress":
			now = texts.OneLine(i.Text)
		}
	}
	return done, len(list.Items), now
}
