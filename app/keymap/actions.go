package keymap

import "slices"

import "fmt"

// row is an Entry in the form that the table uses.
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
	choosing  = in(Picker, Sessions, Document)
	filtering = in(Picker, Sessions, Document, Help)
)

// table is the whole key map, in display order.
var table = []row{
	{Send, in(Prompt), "send", "Send. While the agent is working, your message is queued. Start with ! to run a shell command; the model sees its output. After a backslash: new line", keys("Enter")},
	{Newline, in(Prompt), "newline", "New line", keys("Alt+Enter", "Shift+Enter", "Ctrl+Enter", "Ctrl+J")},
	{SearchHistory, in(Prompt), "", "Search your earlier prompts", keys("Ctrl+R")},
	{LineUp, in(Prompt, Amend), "", "Line up; on the first line: edit the queued message or show the previous prompt", keys("Up", "Ctrl+P")},
	{LineDown, in(Prompt, Amend), "", "Line down; on the last line: show the next prompt, then your draft", keys("Down", "Ctrl+N")},
	{CharLeft, editing, "", "One character left", keys("Left", "Ctrl+B")},
	{CharRight, editing, "", "One character right", keys("Right", "Ctrl+F")},
	{WordLeft, editing, "", "One word left", keys("Ctrl+Left", "Alt+B")},
	{WordRight, editing, "", "One word right", keys("Ctrl+Right", "Alt+F")},
	{LineStart, editing, "", "Start of the line", keys("Home", "Ctrl+A")},
	{LineEnd, editing, "", "End of the line", keys("End", "Ctrl+E")},
	{DeleteLeft, editing, "", "Delete the character to the left", keys("Backspace", "Shift+Backspace")},
	{DeleteRight, editing, "", "Delete the character to the right", keys("Delete")},
	{KillToEnd, editing, "", "Cut to the end of the line", keys("Ctrl+K")},
	{KillToStart, editing, "", "Cut to the start of the line", keys("Ctrl+U")},
	{KillWord, editing, "", "Cut the word to the right", keys("Alt+D", "Ctrl+Delete")},
	{KillWordLeft, editing, "", "Cut the word to the left", keys("Alt+Backspace", "Ctrl+Backspace")},
	{KillToSpaceLeft, editing, "", "Delete the word to the left (to space)", keys("Ctrl+W")},
	{Yank, editing, "", "Paste the text you cut last", keys("Ctrl+Y")},
	{YankNext, editing, "", "After pasting: replace the text with the previous cut", keys("Alt+Y")},
	{Transpose, editing, "", "Swap the two characters around the cursor", keys("Ctrl+T")},
	{Undo, editing, "", "Undo", keys("Ctrl+_")},
	{Redo, editing, "", "Redo", keys("Alt+_")},
	{EditPrompt, in(Prompt, Question), "", "Write the prompt, an answer or the plan in your editor ($VISUAL or $EDITOR)", keys("Ctrl+G")},
	{PasteImage, in(Prompt), "", "Paste a picture from the clipboard; pasting a picture's path works too", keys("Ctrl+V")},
	{ReadUp, in(Prompt, Vi), "", "Scroll the conversation up a page; your draft stays", keys("PgUp")},
	{ReadDown, in(Prompt, Vi), "", "Scroll the conversation down a page", keys("PgDn")},
	{EndOfInput, in(Prompt), "", "Quit, if the prompt is empty", keys("Ctrl+D")},

	{ViInsert, in(Vi), "insert", "Insert before the cursor. After d, c, y or in a selection: the inside of the next key's text object: w or W (word), p (paragraph), \", ' or ` (quotes), (, [, { or < (brackets)", keys("i")},
	{ViAppend, in(Vi), "append", "Insert after the cursor. After d, c, y or in a selection: the text object with the spaces, quotes or brackets around it", keys("a")},
	{ViInsertStart, in(Vi), "", "Insert at the start of the line", keys("I")},
	{ViAppendEnd, in(Vi), "", "Insert at the end of the line", keys("A")},
	{ViOpenBelow, in(Vi), "open line", "Open a new line below", keys("o")},
	{ViOpenAbove, in(Vi), "", "Open a new line above", keys("O")},
	{ViLeft, in(Vi), "", "One character to the left", keys("h", "Left", "Backspace")},
	{ViRight, in(Vi), "", "One character to the right", keys("l", "Right", "Space")},
	{ViUp, in(Vi), "", "Line up; on the first line: edit the queued message or show the previous prompt", keys("k", "Up")},
	{ViDown, in(Vi), "", "Line down; on the last line: show the next prompt, then your draft", keys("j", "Down")},
	{ViWord, in(Vi), "", "Next word", keys("w", "Ctrl+Right")},
	{ViWordBack, in(Vi), "", "Start of the word", keys("b", "Ctrl+Left")},
	{ViWordEnd, in(Vi), "", "End of the word", keys("e")},
	{ViBigWord, in(Vi), "", "Next word (to space)", keys("W")},
	{ViBigWordBack, in(Vi), "", "Start of the word (to space)", keys("B")},
	{ViBigEnd, in(Vi), "", "End of the word (to space)", keys("E")},
	{ViTop, in(Vi), "", "Twice: first line, or the line whose number you typed before", keys("g")},
	{ViBottom, in(Vi), "", "Last line, or the line whose number you typed before", keys("G")},
	{ViMatch, in(Vi), "", "Matching bracket, or the next bracket in the line", keys("%")},
	{ViLineStart, in(Vi), "", "Start of the line", keys("0", "Home")},
	{ViFirst, in(Vi), "", "First character of the line that isn't a space", keys("^")},
	{ViLineEnd, in(Vi), "", "End of the line", keys("$", "End")},
	{ViFind, in(Vi), "", "To the next occurrence, in this line, of the character typed next", keys("f")},
	{ViTill, in(Vi), "", "To just before the character typed next, in this line", keys("t")},
	{ViFindBack, in(Vi), "", "Back to the previous occurrence, in this line, of the character typed next", keys("F")},
	{ViTillBack, in(Vi), "", "Back to just after the character typed next, in this line", keys("T")},
	{ViSeekAgain, in(Vi), "", "Repeat f, t, F or T", keys(";")},
	{ViSeekBack, in(Vi), "", "Repeat f, t, F or T in the other direction", keys(",")},
	{ViDelete, in(Vi), "delete", "Delete over the next motion; twice: the line", keys("d")},
	{ViChange, in(Vi), "change", "Change over the next motion; twice: the line", keys("c")},
	{ViYank, in(Vi), "", "Copy over the next motion; twice: the line", keys("y")},
	{ViYankLine, in(Vi), "", "Copy the line", keys("Y")},
	{ViDeleteChar, in(Vi), "", "Delete the character", keys("x", "Delete")},
	{ViDeleteBack, in(Vi), "", "Delete the character before the cursor", keys("X")},
	{ViSubstitute, in(Vi), "", "Replace the character and insert", keys("s")},
	{ViSubstituteLine, in(Vi), "", "Replace the line and insert", keys("S")},
	{ViDeleteToEnd, in(Vi), "", "Delete to the end of the line", keys("D")},
	{ViChangeToEnd, in(Vi), "", "Replace to the end of the line and insert", keys("C")},
	{ViReplace, in(Vi), "", "Replace the character with the next one you type", keys("r")},
	{ViOvertype, in(Vi), "", "Overwrite text as you type", keys("R")},
	{ViCase, in(Vi), "", "Switch between upper and lower case", keys("~")},
	{ViJoin, in(Vi), "", "Join the line with the next one", keys("J")},
	{ViVisual, in(Vi), "select", "Select with motions and text objects, then d, c, y, x, s, r, ~, u (lower case), J or p; o moves to the other end", keys("v")},
	{ViVisualLines, in(Vi), "", "Select lines", keys("V")},
	{ViPut, in(Vi), "", "Paste the text deleted or copied last, after the cursor", keys("p")},
	{ViPutBefore, in(Vi), "", "Paste the text deleted or copied last, before the cursor", keys("P")},
	{ViUndo, in(Vi), "undo", "Undo; everything from one insertion is undone together", keys("u")},
	{ViRedo, in(Vi), "", "Redo", keys("Ctrl+R")},
	{ViRepeatChange, in(Vi), "", "Repeat the last change or insertion", keys(".")},

	{PopupUp, in(Popup), "", "Up in the list", keys("Up", "Ctrl+P")},
	{PopupDown, in(Popup), "", "Down in the list", keys("Down", "Ctrl+N")},
	{PopupAccept, in(Popup), "fill in", "Complete the command or the path", keys("Tab")},
	{PopupRun, in(Popup), "choose", "Complete the command or the path; run a complete command", keys("Enter")},
	{PopupClose, in(Popup), "close", "Close the list", keys("Esc")},

	{SearchOlder, in(Search), "older", "Next older match", keys("Ctrl+R", "Up", "Ctrl+P")},
	{SearchNewer, in(Search), "newer", "Next newer match", keys("Ctrl+S", "Down", "Ctrl+N")},
	{SearchAccept, in(Search), "edit", "Edit the match in the prompt", keys("Enter", "Tab", "Right")},
	{SearchErase, in(Search), "", "Delete the last character of the search", keys("Backspace")},
	{SearchCancel, in(Search), "cancel", "Cancel and return to your draft", keys("Esc", "Ctrl+G")},

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
	{CopyCode, in(Conversation), "code", "Copy the code block in view; again: the next code block", keys("c")},
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

	{Approve, in(Approval), "yes", "Yes, this once; works after you have seen the whole request", keys("y")},
	{Deny, in(Approval), "no", "No", keys("n")},
	{DenyWithReason, in(Approval), "no, and tell the agent why", "No, and tell the agent why", keys("d")},
	{AmendCall, in(Approval), "edit", "Edit the command or the file's text, then decide", keys("e")},
	{AllowSimilar, in(Approval), "yes, and don't ask again", "Yes, and don't ask again this session for the commands or files in the answer", keys("s")},
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

	{Pick, choosing, "choose", "Choose the selected row", keys("Enter")},
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
	{PickKeys, in(Picker, Sessions), "", "In the session list: switch between the filter and the list's keys", keys("Tab")},
	{SessionFork, in(Sessions), "fork", "Fork the session at a prompt that you choose", keys("f")},
	{SessionRename, in(Sessions), "rename", "Rename the session", keys("r")},
	{SessionDelete, in(Sessions), "delete", "Move the session to the trash; asks first", keys("x")},
	{SessionExport, in(Sessions), "export", "Export the session to a Markdown file in this folder", keys("E")},
	{SessionSearch, in(Sessions), "search", "Search the full text of all sessions; in the filter: type / first", keys("/")},
	{SessionExec, in(Sessions), "exec sessions", "Switch between your sessions and those started by buddy exec", keys("e")},
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
	{Suspend, in(Global), "", "Suspend buddy and return to your shell while the session keeps running; fg comes back", keys("Ctrl+Z")},
	{ShowHelp, in(Global), "help", "Show or close this help; ? on an empty prompt shows the most important keys", keys("F1")},
	{Rewind, in(Global), "", "Rewind to before an earlier prompt: conversation, files or both. Esc twice does the same while nothing runs", keys("F9")},
	{ShowSessions, in(Global), "", "Sessions of this folder: resume, fork, rename, delete, export, search", keys("F4")},
	{Transcript, in(Global), "", "Show the whole transcript as the model sees it: prompts, reminders, calls and results", keys("Ctrl+O")},
	{ShowPalette, in(Global), "", "Find and run a command or an action", keys("F2")},
	{Back, in(Global, Approval, Question, Confirm, Leaving, Pager, Help, Changes), "", "Close a list, search, selection, dialog (not an approval), full screen, pane or subagent; if none is open, stop the agent. Never denies anything", keys("Esc")},
	{Interrupt, in(Global), "", "Copy the selection, stop the agent, clear the draft (kept in the history) or, pressed twice, quit", keys("Ctrl+C")},
	{Narrower, in(Global), "", "Make the column wider; you can also drag its border", keys("Alt+Left")},
	{Wider, in(Global), "", "Make the conversation wider", keys("Alt+Right")},
	{Shorter, in(Global), "", "Make Live shorter and Tasks taller; you can also drag the border", keys("Alt+Shift+Up")},
	{Taller, in(Global), "", "Make Live taller and Tasks shorter", keys("Alt+Shift+Down")},
	{ToggleColumn, in(Global), "", "Make the column with Live and Tasks wide, hide it, or show it again", keys("F3")},
	{Redraw, in(Global), "", "Redraw the screen", keys("Ctrl+L")},
}

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
