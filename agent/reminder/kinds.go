package reminder

import "slices"

// The kinds of what a model is told beside prompts and results. Those that stay in a conversation are
// stored under these names.
const (
	AtFile       = "at_file"
	ChangedFiles = "changed_files"
	Instructions = "instructions"
	Todo         = "todo"
	Hook         = "hook"
	Tasks        = "tasks"
	TaskProgress = "task_progress"
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
	Plan         = "plan"
	PlanExit     = "plan_exit"
	PlanText     = "plan_text"
	Diagnostics  = "diagnostics"
	Memory       = "memory"

	WorkingMemory = "working_memory"

	// What these tell is the outcome of an act, so nobody can switch them off.
	Images     = "images"
	SkillTexts = "skill"
	TypedShell = "shell"
	Workflow   = "workflow"
	Undo       = "undo"
	HookStop   = "hook_stop"
	Goal       = "goal"
)

// Kind describes what reminders of a kind tell, and how.
type Kind struct {
	Name  string
	Once  bool   // told once, it stays in the conversation; else it is of one request only
	Main  bool   // subagents are not told
	Fixed bool   // it can't be switched off
	Long  bool   // models that are spoken to in blocks, which are small, are not told
	Every int    // requests from one to the next; 0: it may come with each
	What  string // for people: what is told, and when
}

// Kinds are all kinds, in the order in which they are told: what belongs to a prompt, what every
// agent is told, what only the main one is.
var Kinds = []Kind{
	{Name: AtFile, Once: true, What: "the files that a prompt names after an `@`, as `read_file` gives them, folders as a list: up to 8 a prompt, 64 KiB each. Not told: what the model has been given already and did not change, and what only you may allow it to read"},
	{Name: Folder, Once: true, What: "the names of the first 60 files of the folder, to a model that is spoken to in blocks"},
	{Name: Resources, Once: true, What: "what MCP servers have of the resources that a prompt names as `@SERVER:URI`"},
	{Name: AgentMention, Once: true, Main: true, What: "that a prompt names a subagent"},

	{Name: ChangedFiles, Once: true, Long: true, What: "files that the model has read or written and that a command of its own or somebody else changed since, also while the session did not run: a diff of at most 2 KB, else that it has to read them again"},
	{Name: Instructions, Once: true, What: "instruction files of a subfolder, and rules whose `paths` match, once the model uses a file there"},
	{Name: Todo, Once: true, Long: true, What: "the open steps of its list, when it did not touch the list for 10 answers, and every 10 after that"},
	{Name: WorkingMemory, Once: true, What: "after a compaction: the first and the last prompt, the open steps, and the files that it has read and changed, in 1 KB; later again after 20 answers, when 8 prompts or files are new"},
	{Name: Diagnostics, Once: true, Long: true, What: "what language servers say of its edits, when that comes after the result"},
	{Name: Hook, Once: true, What: "what your hooks say"},

	{Name: Memory, Once: true, What: "what was put into memory or forgotten since the session began, and what memory has for a target that a call named"},
	{Name: Tasks, Once: true, Main: true, What: "that a command which ran on has ended"},
	{Name: TaskProgress, Main: true, Every: 3, Long: true, What: "the screens of panes in which commands still run, every third request"},
	{Name: Plan, Once: true, Main: true, What: "that mode plan is on and what that means, every fifth answer, in full every 25th"},
	{Name: PlanExit, Once: true, Main: true, What: "that mode plan has ended"},
	{Name: PlanText, Once: true, Main: true, What: "the plan again, after a compaction"},
	{Name: Budget, Once: true, Main: true, Long: true, What: "that a prompt has used 70, 80 or 90 % of `max_cost`"},
	{Name: Context, Once: true, Main: true, Long: true, What: "that the conversation fills 70, 80 or 90 % of the context window"},
	{Name: DateChange, Once: true, Main: true, What: "the new date, when a day ended since the last one told"},
	{Name: ModeChange, Once: true, Main: true, Long: true, What: "that you changed how approvals are decided"},
	{Name: ModelSwitch, Once: true, Main: true, Long: true, What: "that another model wrote the answers so far"},
	{Name: Skills, Once: true, Long: true, What: "the list of skills, and what changes of it"},
	{Name: MCP, Once: true, Long: true, What: "the list of MCP servers, and what changes of it"},
	{Name: Agents, Once: true, Long: true, What: "the list of subagents that are not built in, and what changes of it"},

	{Name: Images, Once: true, Fixed: true, What: "the pictures that its tools have read"},
	{Name: SkillTexts, Once: true, Fixed: true, What: "the texts of loaded skills again, after a compaction"},
	{Name: TypedShell, Once: true, Fixed: true, What: "the command that you ran with `!`, and its output"},
	{Name: Workflow, Once: true, Fixed: true, What: "how a workflow that you ran has ended, and its outputs"},
	{Name: Goal, Once: true, Main: true, Fixed: true, What: "the goal (`/goal`): when it begins or goes on, after a compaction, and with what its check said when an answer has ended"},
	{Name: Undo, Once: true, Fixed: true, What: "which files you put back with `/undo`"},
	{Name: HookStop, Once: true, Fixed: true, What: "why a hook kept its answer from being the last"},
}

// lookup returns a kind, and its place in the order; one that is not known comes last.
func lookup(name string) (k Kind, place int) {
	i := slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{Name: name}, len(Kinds)
	}
	return Kinds[i], i
}
