package slash

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/extensions/workflow"
)

// Command describes a slash command.
type Command struct {
	Name string // without the slash
	Args string // for the help
	// Brief describes the command in at most eight words; "" means that Help is short enough.
	Brief string
	Help  string
	// Means lists other words than the name and its aliases by which users look for the command.
	Means []string
	// Events returns the runtime commands to send for the given arguments, none if the command only shows something. The
	// error is about the arguments. If Events is nil, the command never sends anything to the runtime.
	Events func(args string) ([]event.Command, error)
	// Complete returns the possible next arguments after the arguments said. If it is nil, arguments are not completed.
	Complete func(from Offers, said []string) []Choice
	// Answers means that package commands implements the command and answers with a shape of package show.
	Answers bool
	// CLI is an example of the command on the command line, where it works without a session; "" means that it has
	// none.
	CLI string
	// Early means that the command needs only the settings and the saved sessions, so it works before the session runs.
	Early bool
	// Instant means that the command takes no time, so that a screen can run it on its UI goroutine.
	Instant bool
	// Use ranks the most used commands, from 1; 0 ranks after all of them.
	Use int
	// ScreenOnly explains why the command does not work in plain mode; "" means that it works there.
	ScreenOnly string
}

// Commands lists all commands, the most used first. Package commands adds its own when the program starts.
var Commands = []Command{
	{Name: "help", Means: []string{"keys", "shortcuts", "commands"}, Help: "keys and commands"},
	{Name: "bg", Means: []string{"background"}, Args: "[PROMPT]", Brief: "move the running command to the background", Help: "move the running command to the background; with a prompt, work on the prompt in a fork of the conversation", Events: One(background)},
	{Name: "kill", Means: []string{"stop", "cancel", "abort"}, Args: "[TASK]", Brief: "cancel a task", Help: "cancel a task; without a number, the only task", Events: One(Kill)},
	{Name: "timeout", Args: "DURATION [TASK]", Brief: "set a task's time limit", Help: "cancel a task after a time limit; without a number, the only task", Events: One(SetTimeout)},
	{Name: "approve", Means: []string{"permission", "mode", "auto", "yolo"}, Args: "ask|strict|edits|auto|plan|all|none|DURATION", Help: "set the permission mode", Events: One(Approve)},
	{Name: "compact", Means: []string{"summarize", "summarise", "shrink"}, Use: 4, Args: "[WHAT TO KEEP]", Brief: "replace old exchanges with a summary", Help: "replace old exchanges with a summary in the model's context", Events: One(Compact)},
	{Name: "pin", Means: []string{"keep"}, Args: "[N]", Brief: "protect the last exchange from compaction", Help: "protect the last exchange, or the N-th last, from compaction", Events: One(Pin(false))},
	{Name: "unpin", Args: "[N]", Brief: "unpin the last exchange", Help: "unpin the last exchange, or the N-th last", Events: One(Pin(true))},
	{Name: "effort", Means: []string{"thinking", "reasoning"}, Args: "none|minimal|low|medium|high|xhigh|max", Brief: "set how much the model thinks", Help: "set how much the model thinks, starting with its next request", Events: One(effort)},
	{Name: "find", Means: []string{"search", "grep"}, Args: "[TEXT]", Help: "find text in the conversation"},
	{Name: "edit", Means: []string{"editor"}, Args: "[TEXT]", Help: "write the prompt in your editor"},
	{Name: "output", Means: []string{"log", "result"}, Args: "[N|#AGENT]", Brief: "show the last call's whole output", Help: "show the whole output of the last call, the N-th last call, or a subagent by its number"},
	{Name: "copy", Means: []string{"clipboard"}, Args: "[code|all]", Brief: "copy the last answer", Help: "copy the last answer, its last code block, or the whole conversation"},
	{Name: "redo", Args: "[--force]", Help: "redo the last undo or rewind", Events: One(redo)},
	{Name: "palette", Means: []string{"commands"}, Brief: "find a command or action", Help: "find and run a command or action; shows its keys", ScreenOnly: "in plain mode, /help lists the commands and Tab completes them"},
	{Name: "dashboard", Means: []string{"sessions", "fleet", "waiting", "all"}, Brief: "show all running sessions", Help: "show all running sessions, in all folders, and answer those that are waiting", ScreenOnly: "on the command line, buddy ls lists the running sessions and buddy approve answers"},
	{Name: "init", Means: []string{"agents.md"}, Args: "[ALSO]", Brief: "create an AGENTS.md for this project", Help: "let the model create an AGENTS.md, which describes this project to agents", Events: One(initProject)},
	{Name: "statusline", Means: []string{"status_command", "footer"}, Brief: "show your status line command", Help: "show your own command for the status line (`status_command`): its last input and output", ScreenOnly: "plain mode has no status line"},
	{Name: "theme", Means: []string{"color", "colors", "dark", "light"}, Args: "[NAME]", Brief: "switch the colour theme", Help: "switch the colour theme; without a name, choose from a list with a preview", ScreenOnly: "plain mode has no themes"},
}

// Add inserts a command at its place in the order.
func Add(c Command) {
	i, _ := slices.BinarySearchFunc(Commands, c, byUse)
	Commands = slices.Insert(Commands, i, c)
}

func init() { slices.SortFunc(Commands, byUse) }

// byUse orders commands: the most used first, the others by name.
func byUse(a, b Command) int {
	use := func(c Command) int { return cmp.Or(c.Use, math.MaxInt) }
	return cmp.Or(cmp.Compare(use(a), use(b)), cmp.Compare(a.Name, b.Name))
}

// Find returns the command with a name. Prompts of MCP servers are commands, too; only the session knows which exist.
func Find(name string) (Command, bool) {
	if i := slices.IndexFunc(Commands, func(c Command) bool { return c.Name == name }); i >= 0 {
		return Commands[i], true
	}
	if strings.HasPrefix(name, "mcp__") {
		return Command{Name: name, Args: "[ARGUMENT]...", Help: "a prompt from an MCP server", Answers: true}, true
	}
	return Command{}, false
}

// Offers provides values for the completion of arguments. They are read on demand.
type Offers struct {
	Workflows func() []workflow.Workflow
}

// Choice is a possible completion and its explanation. Both may come from an untrusted file.
type Choice struct{ Word, Help string }

// Complete returns the possible completions of the last word of a command line.
func Complete(from Offers, line string) []Choice {
	name, _, _ := Split(line)
	c, ok := Find(name)
	if !ok || c.Complete == nil {
		return nil
	}
	at := strings.LastIndexAny(line, " \t") + 1
	said := strings.Fields(line[:at])
	if len(said) == 0 {
		return nil // the name itself
	}
	begun := line[at:]
	return slices.DeleteFunc(c.Complete(from, said[1:]), func(c Choice) bool {
		whole := c.Word == begun && strings.HasSuffix(begun, "=") // now its value is typed
		return whole || !strings.HasPrefix(c.Word, begun)
	})
}

// One turns a function that returns at most one runtime command into a Command's Events function.
func One(read func(args string) (event.Command, error)) func(string) ([]event.Command, error) {
	return func(args string) ([]event.Command, error) {
		c, err := read(args)
		if c == nil {
			return nil, err
		}
		return []event.Command{c}, err
	}
}

// Sends reports whether the command sends something to the runtime with these arguments. It is also true for invalid
// arguments.
func (c Command) Sends(args string) bool {
	if c.Events == nil {
		return false
	}
	all, err := c.Events(args)
	return err != nil || len(all) > 0
}
