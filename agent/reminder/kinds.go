package reminder

import "slices"

// The kinds of reminders. Stored reminders of a conversation carry these names.
const (
	AtFile       = "at_file"
	Editor       = "editor"
	ChangedFiles = "changed_files"
	Instructions = "instructions"
	Todo         = "todo"
	Hook         = "hook"
	Tasks        = "tasks"
	TaskProgress = "task_progress"
	VerifyPlan   = "verify_plan"
	Critical     = "critical"
	Budget       = "budget_usd"
	Context      = "context"
	DateChange   = "date_change"
	ModeChange   = "mode_change"
	ModelSwitch  = "model_switch"
	Skills       = "skills"
	MCP          = "mcp"
	Agents       = "agents"
	Resources    = "resources"
	Folder       = "folder"
	AgentMention = "agent_mention"
	Hints        = "hints"
	Plan         = "plan"
	PlanExit     = "plan_exit"
	PlanText     = "plan_text"
	Diagnostics  = "diagnostics"
	Memory       = "memory"

	WorkingMemory = "working_memory"

	// These report the result of an action, so nobody can switch them off.
	Images     = "images"
	SkillTexts = "skill"
	TypedShell = "shell"
	Workflow   = "workflow"
	Undo       = "undo"
	HookStop   = "hook_stop"
	Goal       = "goal"
)

// Kind describes a kind of reminder.
type Kind struct {
	Name  string
	Stays bool   // in the conversation; otherwise it is added to one request only
	Main  bool   // not for subagents
	Fixed bool   // can't be switched off
	Long  bool   // not for models that call tools in text blocks, because they are small
	Every int    // the least number of requests between two of them; 0: no minimum
	What  string // what the reminder contains and when it is sent, for docs
}

// Kinds lists all kinds in the order in which they are sent: kinds that belong to a prompt, kinds for every agent,
// kinds for the main agent only.
var Kinds = []Kind{
	{Name: AtFile, Stays: true, What: "the files that a prompt names after an `@`, as `read_file` returns them, and folders as a list: up to 8 per prompt, 64 KiB each. Files that need your approval, and unchanged files that the model already has, are left out"},
	{Name: Editor, Stays: true, What: "the texts that an editor sends with a prompt: a selection, or a file with its unsaved changes; up to 8 per prompt, 56 KiB each"},
	{Name: Folder, Stays: true, What: "the names of the folder's first 60 files, for a model that works in blocks"},
	{Name: Resources, Stays: true, What: "the resources of MCP servers that a prompt names as `@SERVER:URI`; the names of up to five resources that have changed, if you subscribed to them"},
	{Name: AgentMention, Stays: true, Main: true, What: "the subagent that a prompt names"},
	{Name: Hints, Stays: true, Main: true, Long: true, What: "at most two workflows that fit the words of a prompt, with the inputs that they need, and a command for a task that the prompt names (service logs, archives, on a Mac also the clipboard and opening files); at most 200 bytes per prompt"},

	{Name: ChangedFiles, Stays: true, Long: true, What: "changes that the model's commands or somebody else made to files that it has read or written, also while the session was not running: a diff of at most 2 KB, or a note to read the file again"},
	{Name: Instructions, Stays: true, What: "instruction files of a subfolder, and rules whose `paths` match, once the model uses a file there"},
	{Name: Todo, Stays: true, Long: true, What: "the open steps of the model's list, if the list has not changed for 10 answers, and again every 10 answers"},
	{Name: VerifyPlan, Stays: true, Main: true, Long: true, What: "the last step of the model's list is done: check the result before saying so"},
	{Name: Critical, What: "the texts of `critical`, with every request until the prompt is done"},
	{Name: WorkingMemory, Stays: true, What: "after a compaction: the first and the last prompt, the open steps, and the files that the model has read and changed, in 1 KB; again after 20 answers, if 8 prompts or files are new"},
	{Name: Diagnostics, Stays: true, Long: true, What: "language servers' reports about the model's edits that arrive after the result"},
	{Name: Hook, Stays: true, What: "the output of your hooks"},

	{Name: Memory, Stays: true, What: "memory entries added or forgotten since the session started, and entries for a target that a call named"},
	{Name: Tasks, Stays: true, Main: true, What: "the end of a command in the background"},
	{Name: TaskProgress, Main: true, Every: 3, Long: true, What: "the screens of panes where commands are still running, every third request"},
	{Name: Plan, Stays: true, Main: true, What: "plan mode is on, and its rules; again every fifth answer, in full every 25th"},
	{Name: PlanExit, Stays: true, Main: true, What: "the end of plan mode"},
	{Name: PlanText, Stays: true, Main: true, What: "the plan again, after a compaction"},
	{Name: Budget, Stays: true, Main: true, Long: true, What: "a prompt has used a quarter, half, three quarters or 90 % of `max_cost`"},
	{Name: Context, Stays: true, Main: true, Long: true, What: "the conversation fills a quarter, half, three quarters or 90 % of the context window"},
	{Name: DateChange, Stays: true, Main: true, What: "the new date, when a new day has started"},
	{Name: ModeChange, Stays: true, Main: true, Long: true, What: "a change of the approval mode"},
	{Name: ModelSwitch, Stays: true, Main: true, Long: true, What: "another model wrote the answers so far"},
	{Name: Skills, Stays: true, Long: true, What: "the list of skills, and its changes"},
	{Name: MCP, Stays: true, Long: true, What: "the list of MCP servers, and its changes"},
	{Name: Agents, Stays: true, Long: true, What: "the list of subagents that are not built in, and its changes"},

	{Name: Images, Stays: true, Fixed: true, What: "the pictures that the model's tools have read"},
	{Name: SkillTexts, Stays: true, Fixed: true, What: "the texts of loaded skills again, after a compaction"},
	{Name: TypedShell, Stays: true, Fixed: true, What: "the command that you ran with `!`, and its output"},
	{Name: Workflow, Stays: true, Fixed: true, What: "the result of a workflow that you ran, and its outputs"},
	{Name: Goal, Stays: true, Main: true, Fixed: true, What: "the goal (`/goal`): when it starts or continues, after a compaction, and with the result of its check after an answer"},
	{Name: Undo, Stays: true, Fixed: true, What: "the files that you restored with `/undo`"},
	{Name: HookStop, Stays: true, Fixed: true, What: "the reason why a hook did not let the model stop"},
}

// lookup returns a kind and its position in Kinds; an unknown kind comes last.
func lookup(name string) (k Kind, place int) {
	i := slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{Name: name}, len(Kinds)
	}
	return Kinds[i], i
}
