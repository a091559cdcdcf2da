package keymap

import (
	"fmt"
	"slices"
)

// The other actions.
const (
	Interrupt    Action = "interrupt"
	Back         Action = "back"
	NextPane     Action = "next-pane"
	PreviousPane Action = "previous-pane"
	ShowHelp     Action = "help"
	ShowApproval Action = "show-approval"
	Rewind       Action = "rewind"
	Detach       Action = "detach"
	Suspend      Action = "suspend"
	Narrower     Action = "narrower"
	Wider        Action = "wider"
	Shorter      Action = "shorter"
	Taller       Action = "taller"
	ToggleColumn Action = "toggle-column"
	Redraw       Action = "redraw"
	TypeInto     Action = "type-into"

	ScrollUp     Action = "scroll-up"
	ScrollDown   Action = "scroll-down"
	PageUp       Action = "page-up"
	PageDown     Action = "page-down"
	ScrollTop    Action = "scroll-top"
	ScrollBottom Action = "scroll-bottom"

	// of docked dialogs
	ChoiceUp     Action = "choice-up"
	ChoiceDown   Action = "choice-down"
	ChoiceNumber Action = "choice-number"
	ChoiceTake   Action = "choice-take"
	DialogTop    Action = "dialog-top"
	DialogEnd    Action = "dialog-end"

	Fold           Action = "fold"
	PromptPrevious Action = "prompt-previous"
	PromptNext     Action = "prompt-next"
	CopyBlock      Action = "copy-block"
	CopyCode       Action = "copy-code"
	EditBlock      Action = "edit-block"

	Find         Action = "find"
	FindNext     Action = "find-next"
	FindPrevious Action = "find-previous"
	FindAccept   Action = "find-accept"
	FindErase    Action = "find-erase"
	FindClose    Action = "find-close"

	Select          Action = "select"
	SelectUp        Action = "select-up"
	SelectDown      Action = "select-down"
	SelectLeft      Action = "select-left"
	SelectRight     Action = "select-right"
	SelectWordLeft  Action = "select-word-left"
	SelectWordRight Action = "select-word-right"
	SelectWordEnd   Action = "select-word-end"
	SelectLineStart Action = "select-line-start"
	SelectLineEnd   Action = "select-line-end"
	SelectPageUp    Action = "select-page-up"
	SelectPageDown  Action = "select-page-down"
	SelectTop       Action = "select-top"
	SelectBottom    Action = "select-bottom"
	SelectHere      Action = "select-here"
	SelectLines     Action = "select-lines"
	SelectCopy      Action = "select-copy"
	SelectEnd       Action = "select-end"

	PaneType     Action = "pane-type"
	PaneTypeEnd  Action = "pane-type-end"
	PaneNext     Action = "pane-next"
	PanePrevious Action = "pane-previous"
	PaneGrid     Action = "pane-grid"
	PaneAttach   Action = "pane-attach"
	PaneKill     Action = "pane-kill"
	// PaneBackground makes the agent stop waiting for the running command, which continues in the background.
	PaneBackground Action = "pane-background"

	ItemUp     Action = "item-up"
	ItemDown   Action = "item-down"
	ItemOpen   Action = "item-open"
	TaskCancel Action = "task-cancel"
	TaskLimit  Action = "task-timeout"
	AskSend    Action = "ask-send"
	AskClose   Action = "ask-close"

	Approve        Action = "approve"
	Deny           Action = "deny"
	DenyWithReason Action = "deny-with-reason"
	ReasonSend     Action = "reason-send"
	ReasonBack     Action = "reason-back"
	ReasonRemember Action = "reason-remember"

	// while the user types a secret
	SecretKeep   Action = "secret-keep"
	SecretCancel Action = "secret-cancel"
	AllowSimilar Action = "allow-similar"
	TryFirst     Action = "try-first"
	RunForReal   Action = "run-for-real"
	AmendCall    Action = "amend"
	AmendDone    Action = "amend-done"
	AmendLine    Action = "amend-line"
	Explain      Action = "explain"
	CycleMode    Action = "cycle-mode"

	ConfirmYes   Action = "confirm-yes"
	ConfirmNo    Action = "confirm-no"
	LeaveDetach  Action = "leave-detach"
	LeaveKilling Action = "leave-killing"
	LeaveStay    Action = "leave-stay"

	OpenOutput Action = "open-output"
	PagerClose Action = "pager-close"
	FullScreen Action = "full-screen"

	ShowSessions Action = "sessions"
	ShowBoard    Action = "dashboard"
	ShowPalette  Action = "palette"
	Transcript   Action = "transcript"

	PickUp       Action = "pick-up"
	PickDown     Action = "pick-down"
	PickPageUp   Action = "pick-page-up"
	PickPageDown Action = "pick-page-down"
	PickFirst    Action = "pick-first"
	PickLast     Action = "pick-last"
	Pick         Action = "pick"
	PickErase    Action = "pick-erase"
	PickClear    Action = "pick-clear"
	PickClose    Action = "pick-close"
	PickKeys     Action = "pick-keys"
	TabNext      Action = "tab-next"
	TabPrevious  Action = "tab-previous"

	SessionFork   Action = "session-fork"
	SessionRename Action = "session-rename"
	SessionDelete Action = "session-delete"
	SessionExport Action = "session-export"
	SessionSearch Action = "session-search"
	SessionExec   Action = "session-exec"

	BoardAttach  Action = "dashboard-attach"
	BoardAnswer  Action = "dashboard-answer"
	BoardNew     Action = "dashboard-new"
	BoardStop    Action = "dashboard-stop"
	BoardFilter  Action = "dashboard-filter"
	NamingDone   Action = "naming-done"
	NamingCancel Action = "naming-cancel"

	CopyChanges  Action = "copy-changes"
	EditChanges  Action = "edit-changes"
	CloseChanges Action = "close-changes"
)

// row is an Entry as the table writes it, with keys as text.
type row struct {
	action Action
	scopes []Scope
	label  string
	help   string
	keys   []string
}

func keys(names ...string) []string { return names }
func in(scopes ...Scope) []Scope    { return scopes }

var (
	editing   = in(Prompt, Reason, Amend, Secret, Naming, Asking)
	docked    = in(Approval, Question, Confirm, Leaving)
	scrolling = in(Conversation, Panes, Pager, Changes)
	paging    = append(slices.Clip(scrolling), docked...)
	choosing  = in(Picker, Sessions, Board, Document)
	filtering = in(Picker, Sessions, Board, Document, Help)
)

// table is the whole key map, in display order.
var table = slices.Concat(promptTable, []row{
	{ScrollUp, scrolling, "", "Scroll up a row", keys("Up", "k")},
	{ScrollDown, scrolling, "", "Scroll down a row", keys("Down", "j")},
	{PageUp, paging, "", "Scroll up a page", keys("PgUp")},
	{PageDown, paging, "", "Scroll down a page", keys("PgDn", "Space")},
	{ScrollTop, scrolling, "", "Scroll to the start", keys("Home", "g")},
	{ScrollBottom, scrolling, "", "Scroll to the end and follow new text", keys("End", "G")},

	{ChoiceUp, docked, "", "Previous choice", keys("Up")},
	{ChoiceDown, docked, "", "Next choice", keys("Down")},
	{ChoiceNumber, docked, "", "The choice with this number", keys("1", "2", "3", "4", "5", "6", "7", "8", "9")},
	{ChoiceTake, docked, "", "Confirm the choice you marked with an arrow or a digit", keys("Enter")},
	{DialogTop, docked, "", "Scroll to the start of the request", keys("Home")},
	{DialogEnd, docked, "", "Scroll to the end of the request", keys("End")},

	{Fold, in(Conversation), "unfold", "Fold or unfold the block, or the findings of a review", keys("Enter")},
	{PromptPrevious, in(Conversation), "", "Previous prompt", keys("[")},
	{PromptNext, in(Conversation), "", "Next prompt", keys("]")},
	{CopyBlock, in(Conversation, Pager), "copy", "Copy the block; in an output: the selection, or the visible lines", keys("y")},
	{CopyCode, in(Conversation), "copy code", "Copy the code block in view; again: the next code block", keys("c")},
	{Find, in(Conversation, Pager), "find", "Find text; case matters only if you type a capital", keys("/")},
	{FindNext, in(Conversation, Pager), "", "Next match", keys("n")},
	{FindPrevious, in(Conversation, Pager), "", "Previous match", keys("N")},
	{EditBlock, in(Conversation, Pager), "", "Open the block or the output in your editor ($VISUAL or $EDITOR)", keys("e")},
	{Select, in(Conversation, Pager), "select", "Select text with keys, from the block, the match or the top line; with the mouse: drag, or double- or triple-click", keys("v")},
	{OpenOutput, in(Conversation), "output", "Show the call's whole output", keys("o")},
	{FullScreen, append(in(Conversation, Panes, Tasks), docked...), "", "Toggle full screen", keys("z")},

	{FindAccept, in(Finding), "keep (n next, N previous)", "Go to the match; then n is the next match, N the previous", keys("Enter")},
	{FindErase, in(Finding), "", "Delete the last character of the search", keys("Backspace")},
	{FindClose, in(Finding), "close", "Cancel the search and return to where you were", keys("Esc", "Ctrl+G")},

	{SelectCopy, in(Selecting), "copy", "Copy the selection", keys("y", "Enter")},
	{SelectUp, in(Selecting), "", "Line up", keys("Up", "k")},
	{SelectDown, in(Selecting), "", "Line down", keys("Down", "j")},
	{SelectLeft, in(Selecting), "", "One character left", keys("Left", "h")},
	{SelectRight, in(Selecting), "", "One character right", keys("Right", "l")},
	{SelectWordLeft, in(Selecting), "", "One word left", keys("b", "Ctrl+Left")},
	{SelectWordRight, in(Selecting), "", "One word right", keys("w", "Ctrl+Right")},
	{SelectWordEnd, in(Selecting), "", "End of the word", keys("e")},
	{SelectLineStart, in(Selecting), "", "Start of the line", keys("0", "Home")},
	{SelectLineEnd, in(Selecting), "", "End of the line", keys("$", "End")},
	{SelectPageUp, in(Selecting), "", "Page up", keys("PgUp")},
	{SelectPageDown, in(Selecting), "", "Page down", keys("PgDn", "Space")},
	{SelectTop, in(Selecting), "", "Start of the text", keys("g")},
	{SelectBottom, in(Selecting), "", "End of the text", keys("G")},
	{SelectHere, in(Selecting), "from here", "Restart the selection from here", keys("v")},
	{SelectLines, in(Selecting), "lines", "Select whole lines", keys("V")},
	{SelectEnd, in(Selecting), "end", "Clear the selection", keys("Esc", "q")},

	{PaneType, in(Panes), "type", "Type into the terminal pane; every key except the one that ends typing goes there", keys("i")},
	{PaneTypeEnd, in(Typing), "end typing", "Stop typing into the terminal pane", keys("Ctrl+]")},
	{PaneNext, in(Panes), "next", "Next terminal pane", keys("Right", "l")},
	{PanePrevious, in(Panes), "", "Previous terminal pane", keys("Left", "h")},
	{PaneGrid, in(Panes), "", "Show terminal panes side by side (if they fit) or one at a time", keys("s")},
	{PaneAttach, in(Panes), "attach", "Show or hide the command that attaches another terminal to this pane", keys("a")},
	{PaneBackground, in(Panes), "background", "Move the running command to the background, like /bg", keys("b")},
	{PaneKill, in(Panes), "kill", "Kill the terminal pane and the command in it; asks first", keys("x")},

	{ItemUp, in(Tasks), "", "Up in the list", keys("Up", "k")},
	{ItemDown, in(Tasks), "", "Down in the list", keys("Down", "j")},
	{ItemOpen, in(Tasks, Panes), "open", "Open the selected item: the whole output of a pane, an approval, a subagent's conversation (you can write to it), or a task's details and output", keys("Enter")},
	{TaskCancel, in(Tasks), "cancel", "Cancel the selected task", keys("x")},
	{TaskLimit, in(Tasks), "time limit", "Set a time limit for the selected task", keys("t")},

	{AskSend, in(Asking), "set", "Accept your answer", keys("Enter")},
	{AskClose, in(Asking), "back", "Go back without a change", keys("Esc")},

	{Approve, in(Approval), "yes", "Yes, this once; after a try: keep exactly its changes. Works after you have seen the whole request", keys("y")},
	{Deny, in(Approval), "no", "No", keys("n")},
	{DenyWithReason, in(Approval), "no, and tell the agent why", "No, and tell the agent why", keys("d")},
	{AmendCall, in(Approval), "edit", "Edit the command or the file's text, then decide", keys("e")},
	{AllowSimilar, in(Approval), "yes, and don't ask again", "Yes, and don't ask again this session for the commands or files in the answer", keys("s")},
	{TryFirst, in(Approval), "try it first", "Try the command: it runs so that nothing changes here, and then you see what it would change", keys("t")},
	{RunForReal, in(Approval), "run it for real", "After a try: throw its changes away and run the command", keys("r")},
	{Explain, in(Approval), "details", "Show or hide the details: why you are asked, what it would do, how to undo it, a safer way", keys("?")},
	{AmendDone, in(Amend), "done", "Back to the answers with your edits; nothing runs yet", keys("Enter")},
	{AmendLine, in(Amend), "newline", "New line", keys("Alt+Enter", "Shift+Enter", "Ctrl+Enter", "Ctrl+J")},
	{ReasonSend, in(Reason), "tell the agent", "Deny with this reason; empty: deny without a reason. If you kept typing right after opening this line, press Enter twice", keys("Enter")},
	{ReasonRemember, in(Reason), "remember", "Save the reason for later sessions: for this project, for all your projects, for the team, or not at all", keys("Tab")},
	{ReasonBack, in(Reason, Amend), "back", "Back to the answers; your text is still there when you return", keys("Esc")},
	{SecretKeep, in(Secret), "save", "Save the key", keys("Enter")},
	{SecretCancel, in(Secret), "cancel", "Cancel without saving", keys("Esc", "Ctrl+C")},

	{ConfirmYes, in(Confirm), "Yes", "Do it", keys("y")},
	{LeaveDetach, in(Leaving), "Detach (everything keeps running)", "Detach: everything keeps running; buddy prints how to come back", keys("d")},
	{LeaveKilling, in(Leaving), "Stop it and quit", "Stop running commands and quit", keys("k")},
	{LeaveStay, in(Leaving), "Stay", "Stay in the session", keys("n", "Ctrl+C")},
	{ConfirmNo, in(Confirm), "No", "Change nothing", keys("n")},

	{PagerClose, in(Pager), "close", "Close the output", keys("q", "o")},

	{Pick, in(Picker, Sessions, Document), "choose", "Choose the selected row", keys("Enter")},
	{PickUp, filtering, "", "Previous row", keys("Up", "Ctrl+P")},
	{PickDown, filtering, "", "Next row", keys("Down", "Ctrl+N")},
	{PickPageUp, filtering, "", "Page up", keys("PgUp")},
	{PickPageDown, filtering, "", "Page down", keys("PgDn")},
	{PickFirst, filtering, "", "First row", keys("Home")},
	{PickLast, filtering, "", "Last row", keys("End")},
	{PickErase, filtering, "", "Delete the last character of the search", keys("Backspace")},
	{PickClear, filtering, "", "Clear the search", keys("Ctrl+U")},
	{TabNext, in(Document), "next tab", "Next tab", keys("Tab", "Right")},
	{TabPrevious, in(Document), "", "Previous tab", keys("Shift+Tab", "Left")},
	{PickKeys, in(Picker, Sessions, Board), "", "In the session list and the dashboard: switch between typing a filter and the shortcut keys of the list", keys("Tab")},
	{SessionFork, in(Sessions), "fork", "Fork the session at a prompt that you choose", keys("f")},
	{SessionRename, in(Sessions), "rename", "Rename the session", keys("r")},
	{SessionDelete, in(Sessions), "delete", "Move the session to the trash; asks first", keys("x")},
	{SessionExport, in(Sessions), "export", "Export the session to a Markdown file in this folder", keys("E")},
	{SessionSearch, in(Sessions), "search", "Search the full text of all sessions; in the filter: type / first", keys("/")},
	{SessionExec, in(Sessions), "exec sessions", "Switch between your sessions and those started by buddy exec", keys("e")},
	{BoardAttach, in(Board), "attach", "Attach to the session; detaching returns here if you started with buddy dashboard", keys("Enter")},
	{BoardAnswer, in(Board), "answer", "Answer the approval or the question that the session waits for", keys("a")},
	{BoardNew, in(Board), "new", "Start a session in a folder, with a prompt, without a screen", keys("n")},
	{BoardStop, in(Board), "stop", "Stop the session, which stays saved; asks first", keys("x")},
	{BoardFilter, in(Board), "filter", "Type a filter", keys("/")},
	{PickClose, choosing, "close", "Close the list", keys("Esc", "Ctrl+G")},
	{NamingDone, in(Naming), "accept", "Accept the text; an empty title is replaced by the first prompt", keys("Enter")},
	{NamingCancel, in(Naming), "cancel", "Cancel without a change", keys("Esc")},

	{CopyChanges, in(Changes), "copy", "Copy all changes", keys("y")},
	{EditChanges, in(Changes), "editor", "Open all changes in your editor ($VISUAL or $EDITOR)", keys("e")},
	{CloseChanges, in(Changes), "close", "Close the changes", keys("q")},

	{NextPane, in(Global), "next pane", "Next pane; on a narrow screen: open or close the page with panes and tasks", keys("Tab", "Alt+Down")},
	{PreviousPane, in(Global), "", "Previous pane", keys("Alt+Up")},
	{CycleMode, in(Global), "", "Change the permission mode: ask, edits, auto (where the sandbox works), plan", keys("Shift+Tab")},
	{ShowApproval, in(Global), "", "Answer the approval or question that is waiting; again: the next one, then back to the prompt", keys("F8")},
	{TypeInto, in(Global), "", "Type into the running command; every key except the one that ends typing goes there", keys("F6")},
	{Detach, in(Global), "detach", "Detach: everything keeps running, and buddy prints how to come back", keys("Ctrl+\\")},
	{Suspend, in(Global), "", "Suspend buddy and return to your shell while the session keeps running; fg returns to buddy", keys("Ctrl+Z")},
	{ShowHelp, in(Global), "help", "Show or close this help; ? on an empty prompt shows the most important keys", keys("F1")},
	{Rewind, in(Global), "", "Rewind to before an earlier prompt: conversation, files or both. Esc twice does the same while nothing runs", keys("F9")},
	{ShowSessions, in(Global), "", "Sessions of this folder: resume, fork, rename, delete, export, search", keys("F4")},
	{ShowBoard, in(Global), "", "Dashboard: all running sessions, in all folders; answer, attach, start, stop", keys("F7")},
	{Transcript, in(Global), "", "Show the whole transcript as the model sees it: prompts, reminders, calls and results", keys("Ctrl+O")},
	{ShowPalette, in(Global), "", "Find and run a command or an action", keys("F2")},
	{Back, in(Global, Approval, Question, Confirm, Leaving, Pager, Help, Changes), "", "Close a list, search, selection or dialog (not an approval); leave full screen, a pane or a subagent's view; if nothing is open, stop the agent. Never denies an approval", keys("Esc")},
	{Interrupt, in(Global), "", "Copy the selection, stop the agent, clear the draft (kept in the history) or, pressed twice, quit", keys("Ctrl+C")},
	{Narrower, in(Global), "", "Make the column wider; you can also drag its border", keys("Alt+Left")},
	{Wider, in(Global), "", "Make the conversation wider", keys("Alt+Right")},
	{Shorter, in(Global), "", "Make Live shorter and Tasks taller; you can also drag the border", keys("Alt+Shift+Up")},
	{Taller, in(Global), "", "Make Live taller and Tasks shorter", keys("Alt+Shift+Down")},
	{ToggleColumn, in(Global), "", "Make the column with Live and Tasks wide, hide it, or show it again", keys("F3")},
	{Redraw, in(Global), "", "Redraw the screen", keys("Ctrl+L")},
})

// defaults turns the table into fresh entries.
func defaults() []Entry {
	entries := make([]Entry, len(table))
	for i, r := range table {
		e := Entry{Action: r.action, Scopes: r.scopes, Label: r.label, Help: r.help}
		for _, name := range r.keys {
			k, err := Parse(name)
			if err != nil {
				panic(fmt.Sprintf("keymap: %s: %v", r.action, err)) // a test checks the table
			}
			e.Keys = append(e.Keys, k)
		}
		entries[i] = e
	}
	return entries
}
