package acp

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/plain"
	"buddy/app/slash"
	"buddy/app/state"
	"buddy/texts"
	"buddy/texts/ansi"
	"buddy/views/words"
)

const (
	liveTail   = 4 << 10  // bytes of a command's output in an update
	resultTail = 32 << 10 // bytes of a call's result
	maxDiff    = 1 << 20  // bytes of a diff that is sent as a diff
)

// updates turns the events of a session into updates for the editor.
type updates struct {
	send      func(any)
	cwd       string
	replaying bool   // the events come from the session's file
	silent    bool   // nothing is sent
	seq       uint64 // of the event
	ownPrompt int    // the id of a prompt of this editor, which is not repeated
	fault     string

	text, thought stream
	calls         map[string]*call // open calls, by their ids in the session
	seen          map[string]bool  // ids of all calls, as the editor knows them
	live          []*call          // have output that the editor does not have
	usage         usage
	steps         state.Steps
	announced     string // the commands
}

// usage holds the number of tokens in the context, and the session's cost.
type usage struct {
	used, size int
	cost       model.Money
}

// stream is an unfinished text of the model.
type stream struct {
	id   string // of the message; "" while nothing was sent
	all  []byte
	sent int
}

// call is a tool call without a result.
type call struct {
	id     string
	tail   []byte
	diffs  []callContent
	hidden bool // the editor does not see it
}

func (u *updates) emit(up any) {
	if !u.silent {
		u.send(up)
	}
}

// event turns one event into updates.
func (u *updates) event(env event.Envelope) {
	u.seq = env.Seq
	switch p := env.Payload.(type) {
	case event.PromptSubmitted:
		u.user(env, p)
	case event.TextDelta, event.ReasoningDelta, event.Checkpoint, event.OpenText, event.RequestStarted, event.ModelMessage:
		if env.Branch == 0 {
			u.model(env)
		}
	case event.ToolRequested, event.ToolStarted, event.ToolOutput, event.ToolResult:
		u.tool(env)
	case event.ContextUsage, event.MetricsUsage:
		if env.Branch == 0 {
			u.used(p)
		}
	case event.SessionRenamed:
		u.emit(update{Update: "session_info_update", Title: clean(p.Title)})
	case event.Error:
		u.fault = texts.WithNext(p.Text, p.NextStep)
		if env.Branch != 0 || env.Task == 0 { // an error of a task is the answer to its prompt
			u.remark(p)
		}
	case event.SessionResumed:
		u.reset()
	default:
		u.remark(p)
	}
}

// tool handles the events of a call.
func (u *updates) tool(env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.ToolRequested:
		u.requested(env, p)
	case event.ToolStarted:
		if c := u.calls[p.CallID]; c != nil {
			c.tail = nil
			u.call(c, toolCall{Status: "in_progress"})
		}
	case event.ToolOutput:
		u.output(p)
	case event.ToolResult:
		u.result(p)
	}
}

// reset ends the calls and texts that the session's previous process left unfinished.
func (u *updates) reset() {
	for _, c := range u.calls {
		u.call(c, toolCall{Status: "failed"})
	}
	clear(u.calls)
	u.text, u.thought, u.live = stream{}, stream{}, nil
}

// user sends the editor a prompt that came from another screen or from the session's file.
func (u *updates) user(env event.Envelope, p event.PromptSubmitted) {
	if p.Queued || env.Branch != 0 || p.ID == u.ownPrompt && !u.replaying {
		return
	}
	id := fmt.Sprintf("prompt-%d", env.Seq)
	u.emit(update{Update: "user_message_chunk", Content: textBlock(p.Text), MessageID: id})
	for _, i := range p.Images {
		u.emit(update{Update: "user_message_chunk", Content: &contentBlock{Type: "image", MimeType: i.MediaType, Data: base64.StdEncoding.EncodeToString(i.Data)}, MessageID: id})
	}
}

// model handles the events of a model's answer.
func (u *updates) model(env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.TextDelta:
		u.text.all = append(u.text.all, p.Text...)
	case event.ReasoningDelta:
		u.thought.all = append(u.thought.all, p.Text...)
	case event.Checkpoint:
		u.text.extend(p.Text, p.TextAt)
		u.thought.extend(p.Reasoning, p.ReasoningAt)
	case event.OpenText:
		u.text.extend(p.Text, p.TextAt)
		u.thought.extend(p.Reasoning, p.ReasoningAt)
	case event.RequestStarted: // a text that was not completed is not continued
		u.flush()
		u.text, u.thought = stream{}, stream{}
	case event.ModelMessage:
		u.complete(&u.thought, "agent_thought_chunk", p.Reasoning)
		u.complete(&u.text, "agent_message_chunk", p.Message.Content)
	}
}

// extend adds the new bytes of part, which starts at the given offset of the text.
func (s *stream) extend(part string, at int) {
	if known := len(s.all) - at; known >= 0 && known < len(part) {
		s.all = append(s.all, part[known:]...)
	}
}

// complete sends the rest of a finished text. A finished text that differs from the streamed text, because the request
// was repeated, is sent as a new message.
func (u *updates) complete(s *stream, kind, whole string) {
	if whole != "" {
		if !strings.HasPrefix(whole, string(s.all[:s.sent])) {
			*s = stream{}
		}
		s.all = []byte(whole)
		u.part(s, kind)
	}
	*s = stream{}
}

// flush sends streamed text and output that the editor does not have yet.
func (u *updates) flush() {
	if u.replaying {
		return
	}
	u.part(&u.thought, "agent_thought_chunk")
	u.part(&u.text, "agent_message_chunk")
	for _, c := range u.live {
		u.call(c, toolCall{Content: output(c.tail)})
	}
	u.live = nil
}

// replayed ends a replay. A running session's file may end in the middle of an answer, whose text is sent now.
func (u *updates) replayed() {
	u.replaying = false
	u.flush()
	u.tellUsage()
	u.silent = false
}

// messages returns a number that no message of this process has yet.
var messages = func() func() uint64 {
	var n atomic.Uint64
	return func() uint64 { return n.Add(1) }
}()

// id returns an id for a new message. In a replay the same message always gets the same id.
func (u *updates) id(kind string) string {
	if u.replaying {
		return fmt.Sprintf("%s-at-%d", kind, u.seq)
	}
	return fmt.Sprintf("%s-%d", kind, messages())
}

// part sends the text that the editor does not have yet.
func (u *updates) part(s *stream, kind string) {
	part := s.all[s.sent:]
	if len(part) == 0 {
		return
	}
	if s.id == "" {
		s.id = u.id(strings.Split(kind, "_")[1])
	}
	s.sent = len(s.all)
	u.emit(update{Update: kind, Content: textBlock(string(part)), MessageID: s.id})
}

// say sends a message from buddy itself.
func (u *updates) say(text string) {
	u.flush()
	u.emit(update{Update: "agent_message_chunk", Content: textBlock(text), MessageID: u.id("buddy")})
}

// remark sends the text that describes an event: warnings, errors and review reports as messages, everything else as
// thoughts.
func (u *updates) remark(e event.Event) {
	var b strings.Builder
	(&plain.Remarks{Err: &b}).Remark(e)
	text := strings.TrimSpace(b.String())
	if text == "" {
		return
	}
	switch e.(type) {
	case event.Warning, event.Error, event.ReviewFinished:
		u.say(text)
	default:
		u.flush()
		u.emit(update{Update: "agent_thought_chunk", Content: textBlock(text + "\n"), MessageID: u.id("buddy")})
	}
}

// requested shows a call, or its changed arguments.
func (u *updates) requested(env event.Envelope, p event.ToolRequested) {
	u.flush()
	c, again := u.calls[p.CallID]
	if !again {
		c = &call{id: p.CallID, hidden: p.Name == "todo"} // the plan shows it
		if u.seen[c.id] {
			c.id = fmt.Sprintf("%s-%d", p.CallID, env.Seq)
		}
		if u.seen == nil {
			u.seen = make(map[string]bool)
		}
		u.seen[c.id], u.calls[p.CallID] = true, c
	}
	shown := u.shown(p)
	c.diffs = shown.Content
	if again {
		u.call(c, shown)
		return
	}
	shown.Update, shown.Status = "tool_call", "pending"
	u.call(c, shown)
}

// shown describes a call.
func (u *updates) shown(p event.ToolRequested) toolCall {
	w := words.Of(p)
	w.Cwd = u.cwd
	shown := toolCall{Title: clean(texts.OneLine(w.Line())), Kind: kindOf(p.Counted(), p.Action), RawInput: rawObject(p.Arguments), Content: diffs(p.Action, u.cwd)}
	if p.Target == "" || p.Target == slash.ThisMachine {
		for _, path := range slices.Concat([]string{p.Action.Path}, p.Action.Paths) {
			if at := (location{path}); filepath.IsAbs(path) && !slices.Contains(shown.Locations, at) {
				shown.Locations = append(shown.Locations, at)
			}
		}
	}
	return shown
}

// kinds maps tools to the protocol's kinds of calls, for tools whose action does not determine the kind.
var kinds = map[string]string{"grep": "search", "glob": "search", "tool_search": "search", "list_dir": "search", "web_search": "search", "exit_plan": "switch_mode", "enter_plan": "switch_mode", "agent": "think", "todo": "think"}

func kindOf(tool string, act action.Action) string {
	if kind := kinds[tool]; kind != "" {
		return kind
	}
	switch act.Kind {
	case action.FileRead:
		return "read"
	case action.FileWrite, action.PlanFile:
		return "edit"
	case action.FileDelete:
		return "delete"
	case action.Shell, action.Git, action.PaneKeys:
		return "execute"
	case action.Network, action.Browser:
		return "fetch"
	}
	return "other"
}

// call sends an update of a call.
func (u *updates) call(c *call, shown toolCall) {
	if c.hidden {
		return
	}
	shown.ID = c.id
	if shown.Update == "" {
		shown.Update = "tool_call_update"
	}
	u.emit(shown)
}

// output adds to the output of a call, which flush sends.
func (u *updates) output(p event.ToolOutput) {
	c := u.calls[p.CallID]
	if c == nil {
		return
	}
	c.tail = append(c.tail, p.Text...)
	if over := len(c.tail) - liveTail; over > 0 {
		c.tail = append(c.tail[:0], c.tail[over:]...)
	}
	if !slices.Contains(u.live, c) {
		u.live = append(u.live, c)
	}
}

// output returns the end of an output as a call's content. Only the end is kept, because each update has to send the
// whole content again.
func output(tail []byte) []callContent {
	text := strings.TrimRight(ansi.Strip(strings.ToValidUTF8(string(tail), "")), "\n")
	if text == "" {
		return nil
	}
	return []callContent{{Type: "content", Content: textBlock(texts.Fenced("", text))}}
}

func (u *updates) result(p event.ToolResult) {
	c := u.calls[p.CallID]
	if c == nil {
		return
	}
	delete(u.calls, p.CallID)
	u.live = slices.DeleteFunc(u.live, func(other *call) bool { return other == c })
	u.flush()
	shown := toolCall{Status: "completed"}
	if p.Failed() {
		shown.Status = "failed"
	}
	text := p.Text()
	if p.ExitCode != nil && p.Tail != "" {
		text = p.Tail
	}
	if over := len(text) - resultTail; over > 0 {
		text = "…\n" + text[over:]
	}
	if shown.Content = output([]byte(text)); len(c.diffs) > 0 && !p.IsError {
		shown.Content = c.diffs
	}
	u.call(c, shown)
}

// used records the tokens in the context and the cost so far, and sends them.
func (u *updates) used(e event.Event) {
	before := u.usage
	switch p := e.(type) {
	case event.ContextUsage:
		u.usage.used, u.usage.size = p.Estimated, p.Limit
	case event.MetricsUsage:
		u.usage.cost = p.SessionCost
	}
	if u.usage != before && !u.replaying {
		u.tellUsage()
	}
}

// tellUsage sends the usage, if the size of the context is known.
func (u *updates) tellUsage() {
	if u.usage.size == 0 {
		return
	}
	up := update{Update: "usage_update", Used: &u.usage.used, Size: &u.usage.size}
	if u.usage.cost > 0 {
		up.Cost = &cost{float64(u.usage.cost) / 1e6, "USD"}
	}
	u.emit(up)
}

// plan shows the model's steps, if they have changed.
func (u *updates) plan(steps state.Steps) {
	if slices.Equal(steps, u.steps) {
		return
	}
	u.steps = slices.Clone(steps)
	u.flush()
	entries := make([]planEntry, 0, len(steps))
	for _, s := range steps {
		entries = append(entries, planEntry{clean(s.Text), "medium", [...]string{"pending", "in_progress", "completed"}[s.State]})
	}
	u.emit(update{Update: "plan", Entries: &entries})
}

// commands announces the commands that can be typed after a slash.
func (u *updates) commands(s *state.State) {
	all := []command{}
	add := func(name, args, help string) {
		c := command{Name: name, Description: clean(help)}
		if args != "" {
			c.Input = &commandInput{clean(args)}
		}
		all = append(all, c)
	}
	for _, c := range slash.Commands {
		if offered(c) {
			add(c.Name, c.Args, c.Help)
		}
	}
	for _, c := range slices.Concat(slash.Typed(s.Info.Commands), s.Info.Prompts) {
		add(c.Name, c.Args, slash.CustomHelp(event.CustomCommand{Help: c.Help, Origin: c.Origin}))
	}
	if list := fmt.Sprint(all); list != u.announced {
		u.announced = list
		u.emit(update{Update: "available_commands_update", Commands: &all})
	}
}
