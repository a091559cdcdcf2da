package slash

import (
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/extensions/workflow"
)

// Command describes something to type after a slash.
type Command struct {
	Name string // without the slash
	Args string // for the help
	// Brief says in at most eight words what it does; "" where Help does.
	Brief string
	Help  string
	// Do runs it where the screen and a line do the same; its error is about the arguments. nil:
	// each has a way of its own.
	Do func(c Catalog, s Frontend, args string) error
	// Complete returns what may follow some of its arguments. nil: nothing is offered.
	Complete func(from Offers, said []string) []Choice
	// Answers means that package commands has what it does, which answers with a shape of package show.
	Answers bool
	// Early means that it works on the settings and the saved sessions alone, before the session runs.
	Early bool
	// Use is the place of the command among those that are used most, from 1; 0 is after all of them.
	Use int
	// ScreenOnly says why there is no use for it line by line; "" means that there is one.
	ScreenOnly string
}

// Commands lists what there is, in the order of the help. Package commands adds its rows when the program starts.
var Commands = []Command{
	{Name: "help", Help: "keys and commands"},
	{Name: "status", Help: "model, tools and counters of this session", Do: sends(Report(event.ReportStatus))},
	{Name: "ps", Help: "what runs and what waits", Do: sends(Report(event.ReportTasks))},
	{Name: "bg", Args: "[PROMPT]", Brief: "move the running command to the background", Help: "send the command that the agent waits for to the background, where it continues as a task; with a prompt, work on that beside, on a fork of the conversation"},
	{Name: "kill", Args: "[TASK]", Brief: "cancel a task", Help: "cancel a task, or the only one", Do: sends(Kill)},
	{Name: "timeout", Args: "DURATION [TASK]", Brief: "cancel a task when it takes longer", Help: "cancel a task, or the only one, when it takes longer", Do: sends(SetTimeout)},
	{Name: "approve", Args: "ask|strict|edits|auto|plan|all|none|DURATION", Help: "how to decide what needs approval", Do: sends(Approve)},
	{Name: "plan", Args: "[PROMPT]", Brief: "only read until you approve a plan", Help: "mode plan: only reading, until you approve a plan; with a prompt, begin with it", Do: plan},
	{Name: "goal", Args: "[TEXT [--check COMMAND] [--check-outside] [--verdict] [--turns N] [--cost DOLLARS] [--time 30m]|pause|resume|off]", Brief: "work until a check says it is done", Help: "work until a check says that the goal is met: a command that exits with 0, or else the verdict of a subagent; alone, how far it is", Do: sends(Goal)},
	{Name: "context", Brief: "how full the model's context is", Help: "how full the model's context is: its parts, what is largest, what was spent", Do: sends(Report(event.ReportContext))},
	{Name: "agents", Brief: "the subagents there are", Help: "the subagents there are, and what was left out", Do: sends(Report(event.ReportAgents))},
	{Name: "review", Args: "[BASE]", Brief: "let a subagent review your changes", Help: "let a subagent that only reads list the defects of a change: of what is not committed, else of what this branch adds; or of what differs from a commit or branch", Do: sends(reviewChange)},
	{Name: "findings", Args: "[N]", Brief: "what the last review found", Help: "what the last review found, as a list that opens their files in your editor; with a number, opens that one's file at its line"},
	{Name: "hooks", Brief: "the hooks that run here", Help: "the hooks that run here, how each ran last, and what was left out", Do: sends(Report(event.ReportHooks))},
	{Name: "workflow", Args: "[NAME [INPUT=VALUE]...|runs|resume [RUN]|cancel [RUN]|save NAME]", Brief: "run a workflow", Help: "run a workflow, a file of steps and gates; lists the runs of this session, goes on with one that was cut off, gives one up; makes a workflow of the last exchange; alone, which workflows there are", Do: sends(Workflow), Complete: workflowWords},
	{Name: "compact", Args: "[WHAT TO KEEP]", Brief: "replace old exchanges by a summary", Help: "replace old exchanges by a summary, for the model", Do: sends(Compact)},
	{Name: "pin", Args: "[N]", Brief: "keep the last exchange when compacting", Help: "keep the last exchange, or the N-th last, when compacting", Do: sends(Pin(false))},
	{Name: "unpin", Args: "[N]", Help: "no longer keep it", Do: sends(Pin(true))},
	{Name: "effort", Args: "none|minimal|low|medium|high|xhigh|max", Brief: "how much the model thinks", Help: "how much the model thinks, from its next request on", Do: sends(effort)},
	{Name: "skills", Args: "[off NAME|on NAME]", Brief: "skills and custom commands", Help: "skills and custom commands: what each costs, why one was left out; switches one off or on", Do: sends(Skills)},
	{Name: "style", Args: "[NAME]", Brief: "how answers are written", Help: "how answers are written, from the next session on; without a name, lists the styles", Do: Catalog.OnStyle},
	{Name: "login", Args: "[NAME]", Brief: "add a provider's key, or log in", Help: "keep the key of a provider, or log in to a profile"},
	{Name: "logout", Args: "[NAME]", Help: "forget a key or a login", Do: func(c Catalog, s Frontend, name string) error { return c.Access.LogOut(s, name) }},
	{Name: "config", Args: "[edit]", Brief: "settings, and where they come from", Help: "the files that settings come from, and the settings that are not the built-in ones; opens your file in your editor"},
	{Name: "doctor", Brief: "check what buddy needs", Help: "check what buddy needs; asks the model for one word"},
	{Name: "session", Args: "[list|new|resume ID|rename TITLE|search TEXT|fork [N]]", Brief: "resume, fork, rename or search sessions", Help: "the sessions of this folder: resume, fork, rename, delete, export, search; without a verb, choose from a list", Do: func(c Catalog, s Frontend, args string) error {
		verb, rest, _ := strings.Cut(args, " ")
		return c.OnSession(s, strings.ToLower(verb), strings.TrimSpace(rest))
	}},
	{Name: "clear", Brief: "start a new conversation", Help: "begin a new conversation; this one stays saved", Do: func(_ Catalog, s Frontend, _ string) error { return s.Change("") }},
	{Name: "find", Args: "[TEXT]", Help: "find text in the conversation"},
	{Name: "edit", Args: "[TEXT]", Help: "write the prompt in your editor"},
	{Name: "output", Args: "[N|#AGENT]", Brief: "all output of the last call", Help: "the whole output of the last call, of the N-th last, or of the subagent with a number"},
	{Name: "copy", Args: "[code|all]", Brief: "copy the last answer", Help: "copy the last answer, the last code block in it, or all that was said"},
	{Name: "rewind", Args: "[N [conversation|files|both] [--force]]", Brief: "go back to before a prompt", Help: "go back to before the N-th last prompt: the conversation, the files that tools for files changed since, or both; without N, choose from a list; /redo takes it back", Do: Catalog.OnRewind},
	{Name: "undo", Args: "[N] [--force]", Brief: "take back the last changes of files", Help: "put back the files that tools for files changed for the last prompt, its subagents' too, or for the last N that changed any; not what commands did", Do: sends(Undo)},
	{Name: "redo", Args: "[--force]", Help: "take the last /undo or /rewind back", Do: sends(redo)},
	{Name: "export", Args: "[md|html|json] [FILE] [--force]", Brief: "write this session into a file", Help: "write this session into a file, for others to read; with --force in place of one that exists", Do: Catalog.ExportThis},
	{Name: "palette", Brief: "all commands and actions with their keys", Help: "all commands and actions with their keys, to run one", ScreenOnly: "here /help lists the commands, and Tab completes them"},
	{Name: "init", Args: "[WHAT ELSE]", Brief: "let the model write AGENTS.md", Help: "let the model write AGENTS.md, which tells it about this project", Do: sends(initProject)},
	{Name: "trust", Args: "[N|all|forget N]", Brief: "trust what came with this folder", Help: "what came with this folder and runs or grants something: hooks, servers, settings; choose what to trust", Do: Catalog.OnTrust},
	{Name: "theme", Args: "[NAME]", Brief: "choose other colours", Help: "other colours; without a name, choose from a list that shows them", ScreenOnly: "line by line there are no colours to choose"},
	{Name: "detach", Brief: "leave; the session keeps running", Help: "leave this session at work and give the terminal back; buddy attach comes back", ScreenOnly: "here the session ends with its terminal; buddy exec --detach leaves one at work"},
	{Name: "quit", Help: "leave buddy"},
}

// Add adds a command.
func Add(c Command) { Commands = append(Commands, c) }

// Find returns the command of a name. Prompts of MCP servers are commands, too; only the session
// knows which there are.
func Find(name string) (Command, bool) {
	if i := slices.IndexFunc(Commands, func(c Command) bool { return c.Name == name }); i >= 0 {
		return Commands[i], true
	}
	if strings.HasPrefix(name, "mcp__") {
		return Command{Name: name, Args: "[ARGUMENT]...", Help: "a prompt of an MCP server", Answers: true}, true
	}
	return Command{}, false
}

// Offers hold what arguments of commands are chosen from. It is read when it is needed.
type Offers struct {
	Workflows func() []workflow.Workflow
}

// Choice is a word of a command's line and what it means. Both may come from a file.
type Choice struct{ Word, Help string }

// Complete returns what the last word of a command's line may become.
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

// sends is a command that is one for the runtime, and nothing else.
func sends(read func(args string) (event.Command, error)) func(Catalog, Frontend, string) error {
	return func(_ Catalog, s Frontend, args string) error {
		c, err := read(args)
		if err == nil {
			s.Command(c)
		}
		return err
	}
}
