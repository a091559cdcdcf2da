package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"buddy/agent/inject"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/features/feature"
	"buddy/texts"
	"buddy/views/markup"
)

// Feature has the command /mcp. [Parts] makes the part of a session.
var Feature = &feature.Feature{Commands: []feature.Command{{
	Command: slash.Command{
		Name: "mcp", Args: "[NAME|on NAME|off NAME|restart NAME|resources NAME]", Brief: "MCP servers, their tools and errors", Means: []string{"servers", "tools", "connectors", "roots", "progress", "resources", "subscribe"},
		Help: "list this session's MCP servers with their states, tools and errors; start or stop them, and subscribe to their resources",
	},
	Run: onServers,
}}}

// onServers lists the servers, describes one, or starts or ends one or a subscription to one of its resources.
func onServers(ctx context.Context, asked feature.Asked, args []string) (show.Answer, error) {
	s, ok := asked.Part.(servers)
	if !ok {
		return show.Answer{}, feature.ErrNoSession
	}
	verb, name := "list", ""
	if len(args) > 0 {
		verb, name = args[0], strings.TrimSpace(strings.Join(args[1:], " "))
	}
	done := map[string]string{"on": "starting ", "off": "ended ", "restart": "starting again "}[verb]
	switch {
	case done != "" && name != "":
		return show.Say(done + name), s.all.Switch(name, verb != "off")
	case verb == "read" && name != "": // the person has seen the hidden text
		return show.Say("the model may read all of " + name), s.all.MarkRead(name)
	case name != "":
		return s.onResources(ctx, verb, args[1:])
	}
	there, err := s.elsewhere()
	all := append(s.all.List(), there...)
	if verb == "list" {
		return show.Answer{List: serverList(all, err)}, nil
	}
	i := slices.IndexFunc(all, func(one Status) bool { return one.Name == verb })
	switch {
	case i < 0 && err != nil:
		return show.Answer{}, err
	case i < 0:
		return show.Answer{}, errors.New("there is no MCP server " + verb + "; /mcp lists them")
	case !all[i].Elsewhere:
		err = s.all.MarkRead(verb)
	}
	return show.Say(strings.Join(all[i].Details(), "\n")), err
}

// onResources lists the resources of a server, or starts or ends a subscription to one.
func (s servers) onResources(ctx context.Context, verb string, args []string) (show.Answer, error) {
	switch {
	case verb == "resources" && len(args) == 1:
		list, err := s.all.resourceList(args[0])
		return show.Answer{List: list}, err
	case verb == "subscribe" && len(args) == 2:
		return show.Say("the model learns when " + args[1] + " changes"), s.all.Subscribe(ctx, args[0], args[1])
	case verb == "unsubscribe" && len(args) == 2:
		return show.Say("the subscription to " + args[1] + " has ended"), s.all.Unsubscribe(ctx, args[0], args[1])
	}
	return show.Answer{}, fmt.Errorf("%q is not known (have: list, NAME, on NAME, off NAME, restart NAME, resources NAME, subscribe NAME URI, unsubscribe NAME URI)", verb)
}

// serverList lists servers; err is the reason why some are missing.
func serverList(all []Status, err error) *show.List {
	list := show.List{
		Title: "MCP servers", Columns: []string{"name", "state", "tools", "last error"}, Changes: true,
		Empty: "none: buddy mcp add adds a server, and a project's .mcp.json may define some",
		Usage: "/mcp NAME shows a server's details; /mcp on|off|restart NAME starts, stops or restarts it",
	}
	if err != nil {
		list.Note = err.Error()
	}
	for _, s := range all {
		list.Rows = append(list.Rows, serverRow(s))
	}
	return &list
}

// resourceList lists the resources of a server.
func (s *Servers) resourceList(server string) (*show.List, error) {
	one, err := s.find(server)
	if err != nil {
		return nil, err
	}
	list := show.List{
		Title: "resources of " + server, Columns: []string{"resource", "name", "subscription"}, Empty: "none",
		Usage: "/mcp subscribe " + server + " URI tells the model when a resource changes; /mcp unsubscribe ends that",
	}
	subscribed := s.subs.of(server)
	row := func(uri, name string) {
		state, verb, label := "", "subscribe", "tell the model when it changes"
		if one, ok := subscribed[uri]; ok {
			state, verb, label = one.state(), "unsubscribe", "end the subscription"
		}
		list.Rows = append(list.Rows, show.Row{
			ID: show.IDOf(uri), Cells: []string{oneLine(uri), oneLine(name), state}, Mark: state != "",
			Deeds: []show.Deed{{Label: label, Run: []string{"mcp", verb, server, uri}}},
		})
		delete(subscribed, uri)
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	for _, r := range one.resources[:min(len(one.resources), maxResources)] {
		row(r.URI, r.Name)
	}
	for _, uri := range slices.Sorted(maps.Keys(subscribed)) { // the server no longer lists them
		row(uri, "")
	}
	if more := len(one.resources) - maxResources; more > 0 {
		list.Note = fmt.Sprintf("and %d more", more)
	}
	return &list, nil
}

// serverRow returns the list row of a server with its actions. A server that is not ready has no number of tools.
func serverRow(s Status) show.Row {
	r := show.Row{
		ID: s.Name, Cells: []string{s.Name, string(s.State), "–", ""}, Mark: s.State != Off,
		Title: s.Name + ": " + string(s.State), More: s.Details(),
	}
	if len(s.Tools) > 0 {
		r.Cells[2] = strconv.Itoa(len(s.Tools))
	}
	if s.Error != "" && s.State != Ready {
		r.Cells[3], r.Line = s.Error, s.Name+": "+s.Error
	}
	if s.Changed > 0 {
		r.Cells[1] += " · " + texts.Plural(s.Changed, "changed resource")
	}
	do := func(label, verb string) {
		r.Deeds = append(r.Deeds, show.Deed{Label: label, Run: []string{"mcp", verb, s.Name}})
	}
	if s.Withheld || slices.ContainsFunc(s.Tools, func(t ToolInfo) bool { return t.Withheld != "" }) {
		r.Whole = true // so that the person sees the text before releasing it
		do("let the model read the hidden text", "read")
	}
	switch {
	case s.Barred:
	case s.State == Off:
		do("switch it on", "on")
	default:
		do("start it again", "restart")
		do("switch it off", "off")
	}
	if s.Resources > 0 {
		do("show its resources", "resources")
	}
	return r
}

// Line describes the server in one line.
func (s Status) Line() string {
	text := fmt.Sprintf("%s  %s  %s", s.Name, s.State, s.Transport)
	if s.State == Ready {
		text += fmt.Sprintf("  %d tools", len(s.Tools))
		if len(s.Prompts) > 0 {
			text += fmt.Sprintf(", %d prompts", len(s.Prompts))
		}
		if s.Resources > 0 {
			text += fmt.Sprintf(", %d resources", s.Resources)
		}
		if s.Changed > 0 {
			text += fmt.Sprintf(" (%d changed)", s.Changed)
		}
	}
	if s.Project {
		text += "  of the project"
	}
	if s.Error != "" && s.State != Ready {
		text += "  " + markup.Plain(s.Error)
	}
	return text
}

// Details describes the server in full.
func (s Status) Details() []string {
	lines := []string{s.Line(), "  " + markup.Plain(s.Where)}
	add := func(what, text string) {
		if text != "" {
			lines = append(lines, strings.Split("  "+what+": "+markup.Plain(text), "\n")...)
		}
	}
	add("it is", s.Title)
	add("protocol", s.Protocol)
	add("runs", s.Fence)
	add("last error", s.Error)
	for _, n := range s.Notes {
		add("note", n)
	}
	add("it says of itself", s.Instructions)
	for _, t := range s.Tools {
		lines = append(lines, toolLines(t)...)
	}
	for _, p := range s.Prompts {
		add("prompt", "/"+p)
	}
	if tail := strings.TrimSpace(s.Stderr); tail != "" {
		lines = append(lines, "  the end of its log:")
		all := strings.Split(markup.Plain(tail), "\n")
		for _, l := range all[max(0, len(all)-20):] {
			lines = append(lines, "    "+l)
		}
	}
	return lines
}

// toolLines describes a tool of a server.
func toolLines(t ToolInfo) []string {
	lines := []string{"  " + t.Name}
	switch {
	case t.ReadOnly:
		lines[0] += "  (declared as read-only)"
	case t.Destructive:
		lines[0] += "  (declared as destructive)"
	}
	most := 300 // bytes
	if t.Withheld != "" {
		most = 4000 // the person has to read it before the model gets it
		lines = append(lines, "    hidden from the model: "+markup.Plain(t.Withheld))
	}
	for l := range strings.Lines(markup.Plain(texts.ClipBytes(t.Description, most))) {
		lines = append(lines, "    "+strings.TrimRight(l, "\n"))
	}
	return lines
}

// promptTime limits how long a server may take to return a prompt.
const promptTime = 30 * time.Second

// AsPrompt returns a server's prompt as text for the user's prompt, with a note that the server wrote it. words has the
// name of the prompt, then its arguments.
func (s *Servers) AsPrompt(ctx context.Context, words []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, promptTime)
	defer cancel()
	text, err := s.Prompt(ctx, words[0], words[1:])
	if err != nil {
		return "", err
	}
	found := inject.Scan(text)
	if inject.Worst(found) >= inject.High {
		return "", fmt.Errorf("the text of %s looks like an instruction from somebody else: it %s: %q", words[0], found[0].Reason, found[0].Excerpt)
	}
	return "/" + strings.Join(words, " ") + "\n\nThis is a prompt of an MCP server; its text is:\n" + inject.Defuse(text, found), nil
}
