package keymap

import "slices"

import "fmt"

// row is an Entry as the table writes it.
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

// table is the whole key map, in the order in which it is shown.
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
	{KillToSpaceLeft, editing, "", "Delete word (to space)", keys("Ctrl+W")},
	{Yank, editing, "", "Paste the text you cut last", keys("Ctrl+Y")},
	{YankNext, editing, "", "After that: paste the text you cut before it instead", keys("Alt+Y")},
	{Transpose, editing, "", "Swap the two characters around the cursor", keys("Ctrl+T")},
	{Undo, editing, "", "Undo", keys("Ctrl+_")},
	{Redo, editing, "", "Redo", keys("Alt+_")},
	{EditPrompt, in(Prompt, Question), "", "Write the prompt, an answer or the plan in your editor ($VISUAL or $EDITOR)", keys("Ctrl+G")},
	{PasteImage, in(Prompt), "", "Paste a picture from the clipboard; pasting a picture's path works too", keys("Ctrl+V")},
	{ReadUp, in(Prompt, Vi), "", "Scroll the conversation up a page; your draft stays", keys("PgUp")},
	{ReadDown, in(Prompt, Vi), "", "Scroll the conversation down a page", keys("PgDn")},
	{EndOfInput, in(Prompt), "", "Quit, if the prompt is empty", keys("Ctrl+D")},

	{ViInsert, in(Vi), "insert", "Type before the cursor. After d, c, y and while selecting: the inside of what is typed after it: w or W (word), p (paragraph), \", ' or ` (quotes), (, [, { or < (brackets)", keys("i")},
	{ViAppend, in(Vi), "append", "Type after the cursor. After d, c, y and while selecting: the same with the spaces, quotes or brackets around it", keys("a")},
	{ViInsertStart, in(Vi), "", "Type at the start of the line", keys("I")},
	{ViAppendEnd, in(Vi), "", "Type at the end of the line", keys("A")},
	{ViOpenBelow, in(Vi), "open line", "Type in a new line below", keys("o")},
	{ViOpenAbove, in(Vi), "", "Type in a new line above", keys("O")},
	{ViLeft, in(Vi), "", "One character to the left", keys("h", "Left", "Backspace")},
	{ViRight, in(Vi), "", "One character to the right", keys("l", "Right", "Space")},
	{ViUp, in(Vi), "", "Up a row; from the first row take the newest queued prompt back, else go to the earlier prompt", keys("k", "Up")},
	{ViDown, in(Vi), "", "Down a row; from the last row go to the later prompt, at last back to what was typed", keys("j", "Down")},
	{ViWord, in(Vi), "", "To the next word", keys("w", "Ctrl+Right")},
	{ViWordBack, in(Vi), "", "To the start of the word", keys("b", "Ctrl+Left")},
	{ViWordEnd, in(Vi), "", "To the end of the word", keys("e")},
	{ViBigWord, in(Vi), "", "To the next word (to space)", keys("W")},
	{ViBigWordBack, in(Vi), "", "To the start of the word (to space)", keys("B")},
	{ViBigEnd, in(Vi), "", "To the end of the word (to space)", keys("E")},
	{ViTop, in(Vi), "", "Twice: to the first line, or the one that the count names", keys("g")},
	{ViBottom, in(Vi), "", "To the last line, or the one that the count names", keys("G")},
	{ViMatch, in(Vi), "", "To the bracket that belongs to this one, or to the next one in the line", keys("%")},
	{ViLineStart, in(Vi), "", "To the start of the line", keys("0", "Home")},
	{ViFirst, in(Vi), "", "To the first character of the line that is no blank", keys("^")},
	{ViLineEnd, in(Vi), "", "To the end of the line", keys("$", "End")},
	{ViFind, in(Vi), "", "To the next place of the character that is typed after it, in the line", keys("f")},
	{ViTill, in(Vi), "", "To the character before that", keys("t")},
	{ViFindBack, in(Vi), "", "To the place before of the character that is typed after it", keys("F")},
	{ViTillBack, in(Vi), "", "To the character after that", keys("T")},
	{ViSeekAgain, in(Vi), "", "Repeat that", keys(";")},
	{ViSeekBack, in(Vi), "", "Repeat that in the other direction", keys(",")},
	{ViDelete, in(Vi), "delete", "Delete up to where the next motion leads; twice: the line", keys("d")},
	{ViChange, in(Vi), "change", "Replace up to where the next motion leads; twice: the line", keys("c")},
	{ViYank, in(Vi), "", "Copy up to where the next motion leads; twice: the line", keys("y")},
	{ViYankLine, in(Vi), "", "Copy the line", keys("Y")},
	{ViDeleteChar, in(Vi), "", "Delete the character", keys("x", "Delete")},
	{ViDeleteBack, in(Vi), "", "Delete the character before the cursor", keys("X")},
	{ViSubstitute, in(Vi), "", "Replace the character by what is typed", keys("s")},
	{ViSubstituteLine, in(Vi), "", "Replace the line", keys("S")},
	{ViDeleteToEnd, in(Vi), "", "Delete to the end of the line", keys("D")},
	{ViChangeToEnd, in(Vi), "", "Replace to the end of the line", keys("C")},
	{ViReplace, in(Vi), "", "Put the character that is typed after it in the place of this one", keys("r")},
	{ViOvertype, in(Vi), "", "Type over what is there", keys("R")},
	{ViCase, in(Vi), "", "Make a capital small, and the other way round", keys("~")},
	{ViJoin, in(Vi), "", "Join the line with the next one", keys("J")},
	{ViVisual, in(Vi), "select", "Select with motions and text objects, for d, c, y, x, s, r, ~, u (small letters), J and p; o goes to the other end", keys("v")},
	{ViVisualLines, in(Vi), "", "Select lines", keys("V")},
	{ViPut, in(Vi), "", "Insert what was deleted or copied last, after the cursor", keys("p")},
	{ViPutBefore, in(Vi), "", "Insert it before the cursor", keys("P")},
	{ViUndo, in(Vi), "undo", "Undo; what was typed at once goes at once", keys("u")},
	{ViRedo, in(Vi), "", "Redo", keys("Ctrl+R")},
	{ViRepeatChange, in(Vi), "", "Repeat the last change, or what was typed", keys(".")},

	{PopupUp, in(Popup), "", "Up in the list", keys("Up", "Ctrl+P")},
	{PopupDown, in(Popup), "", "Down in the list", keys("Down", "Ctrl+N")},
	{PopupAccept, in(Popup), "fill in", "Complete the command or the path", keys("Tab")},
	{PopupRun, in(Popup), "choose", "Complete the command or the path; send a command that is complete", keys("Enter")},
	{PopupClose, in(Popup), "close", "Close the list", keys("Esc")},

	{SearchOlder, in(Search), "older", "The next older match", keys("Ctrl+R", "Up", "Ctrl+P")},
	{SearchNewer, in(Search), "newer", "The next newer match", keys("Ctrl+S", "Down", "Ctrl+N")},
	{SearchAccept, in(Search), "edit", "Take the match into the prompt", keys("Enter", "Tab", "Right")},
	{SearchErase, in(Search), "", "Delete the last character of the search", keys("Backspace")},
	{SearchCancel, in(Search), "cancel", "Go back to the draft", keys("Esc", "Ctrl+G")},

	{ScrollUp, scrolling, "", "Scroll up a row", keys("Up", "k")},
	{ScrollDown, scrolling, "", "Scroll down a row", keys("Down", "j")},
	{PageUp, paging, "", "Scroll up a page", keys("PgUp")},
	{PageDown, paging, "", "Scroll down a page", keys("PgDn", "Space")},
	{ScrollTop, scrolling, "", "To the beginning", keys("Home", "g")},
	{ScrollBottom, scrolling, "", "To the end; new text is followed again", keys("End", "G")},

	{ChoiceUp, docked, "", "To the choice before", keys("Up")},
	{ChoiceDown, docked, "", "To the next choice", keys("Down")},
	{ChoiceNumber, docked, "", "To the choice with that number", keys("1", "2", "3", "4", "5", "6", "7", "8", "9")},
	{ChoiceTake, docked, "", "Take the choice that an arrow or a digit went to", keys("Enter")},
	{DialogTop, docked, "", "To the beginning of what is asked about", keys("Home")},
	{DialogEnd, docked, "", "To its end", keys("End")},

	{Fold, in(Conversation), "unfold", "Fold or unfold the block; of a review: its findings", keys("Enter")},
	{PromptPrevious, in(Conversation), "", "To the prompt before", keys("[")},
	{PromptNext, in(Conversation), "", "To the next prompt", keys("]")},
	{CopyBlock, in(Conversation, Pager), "copy", "Copy the block; of a whole output what is selected, else what shows", keys("y")},
	{CopyCode, in(Conversation), "code", "Copy the code in the block, of several the one in view; again: the next one", keys("c")},
	{Find, in(Conversation, Pager), "find", "Find text; capitals count if there are any", keys("/")},
	{FindNext, in(Conversation, Pager), "", "Go to the next match", keys("n")},
	{FindPrevious, in(Conversation, Pager), "", "Go to the previous match", keys("N")},
	{EditBlock, in(Conversation, Pager), "", "Look at the block, or the output, in your editor ($VISUAL or $EDITOR)", keys("e")},
	{Select, in(Conversation, Pager), "select", "Select text by keys, from the block on or what was found, of a whole output its lines from the top one on; the mouse selects too: drag, or click twice or three times", keys("v")},
	{OpenOutput, in(Conversation), "output", "The whole output of the call", keys("o")},
	{FullScreen, append(in(Conversation, Panes, Tasks), docked...), "", "Full screen and back", keys("z")},

	{FindAccept, in(Finding), "keep, then n next, N previous", "Go to the match; n and N go to the next and the previous one", keys("Enter")},
	{FindErase, in(Finding), "", "Delete the last character of the search", keys("Backspace")},
	{FindClose, in(Finding), "close", "Close the search and go back to where it began", keys("Esc", "Ctrl+G")},

	{SelectCopy, in(Selecting), "copy", "Copy what is selected", keys("y", "Enter")},
	{SelectUp, in(Selecting), "", "Up a row", keys("Up", "k")},
	{SelectDown, in(Selecting), "", "Down a row", keys("Down", "j")},
	{SelectLeft, in(Selecting), "", "One character to the left", keys("Left", "h")},
	{SelectRight, in(Selecting), "", "One character to the right", keys("Right", "l")},
	{SelectWordLeft, in(Selecting), "", "One word to the left", keys("b", "Ctrl+Left")},
	{SelectWordRight, in(Selecting), "", "One word to the right", keys("w", "Ctrl+Right")},
	{SelectWordEnd, in(Selecting), "", "To the end of the word", keys("e")},
	{SelectLineStart, in(Selecting), "", "To the start of the row", keys("0", "Home")},
	{SelectLineEnd, in(Selecting), "", "To the end of the row", keys("$", "End")},
	{SelectPageUp, in(Selecting), "", "Up a page", keys("PgUp")},
	{SelectPageDown, in(Selecting), "", "Down a page", keys("PgDn", "Space")},
	{SelectTop, in(Selecting), "", "To the beginning", keys("g")},
	{SelectBottom, in(Selecting), "", "To the end", keys("G")},
	{SelectHere, in(Selecting), "from here", "Start the selection again, here", keys("v")},
	{SelectLines, in(Selecting), "lines", "Select whole lines", keys("V")},
	{SelectEnd, in(Selecting), "end", "Select nothing", keys("Esc", "q")},

	{PaneType, in(Panes), "type", "Type into the terminal pane: every key but the one that ends it goes there", keys("i")},
	{PaneTypeEnd, in(Typing), "end typing", "Type no longer into the terminal pane", keys("Ctrl+]")},
	{PaneNext, in(Panes), "next", "The next terminal pane", keys("Right", "l")},
	{PanePrevious, in(Panes), "", "The terminal pane before", keys("Left", "h")},
	{PaneGrid, in(Panes), "", "Several terminal panes side by side where there is room, or one", keys("s")},
	{PaneAttach, in(Panes), "attach", "Hide or show how to attach to the pane from a terminal of your own", keys("a")},
	{PaneBackground, in(Panes), "background", "Move the running command to the background, like /bg", keys("b")},
	{PaneKill, in(Panes), "kill", "Kill the terminal pane and what runs in it; asks first", keys("x")},

	{ItemUp, in(Tasks), "", "Up in the list", keys("Up", "k")},
	{ItemDown, in(Tasks), "", "Down in the list", keys("Down", "j")},
	{ItemOpen, in(Tasks, Panes), "open", "Open what is selected: in Live, the whole output of what runs or ran in the pane; in the tasks, the approval, the conversation of a subagent, where what you type is for it, or all that is known of another task, with its output", keys("Enter")},
	{TaskCancel, in(Tasks), "cancel", "Cancel the task that is selected", keys("x")},
	{TaskLimit, in(Tasks), "time limit", "Give the task that is selected a time in which it has to end", keys("t")},

	{AskSend, in(Asking), "set", "Take the line", keys("Enter")},
	{AskClose, in(Asking), "back", "Leave it as it is", keys("Esc")},

	{Approve, in(Approval), "yes", "Yes, this once; works once all of the request was on the screen", keys("y")},
	{Deny, in(Approval), "no", "No", keys("n")},
	{DenyWithReason, in(Approval), "no, and say why", "No, and tell the agent why", keys("d")},
	{AmendCall, in(Approval), "edit", "Edit the command or the text of the file, then decide", keys("e")},
	{AllowSimilar, in(Approval), "yes, and don't ask again", "Yes, and don't ask again this session for what the answer names", keys("s")},
	{Explain, in(Approval), "details", "Show or hide the details: why you are asked, what it would do, how to undo it, a safer way", keys("?")},
	{AmendDone, in(Amend), "done", "Back to the answers with your edits; nothing runs yet", keys("Enter")},
	{AmendLine, in(Amend), "newline", "New line", keys("Alt+Enter", "Shift+Enter", "Ctrl+Enter", "Ctrl+J")},
	{ReasonSend, in(Reason), "tell the agent", "No, with this reason; an empty one is a plain no. If you typed on right after its letter, press it twice: it may be a sentence for the prompt", keys("Enter")},
	{ReasonRemember, in(Reason), "remember", "Remember the reason for later sessions: for this project, in all your projects, for the team, or not at all", keys("Tab")},
	{ReasonBack, in(Reason, Amend), "back", "Back to the answers; your text is still there when you return", keys("Esc")},
	{SecretKeep, in(Secret), "keep", "Keep the key", keys("Enter")},
	{SecretCancel, in(Secret), "cancel", "Forget what was typed", keys("Esc", "Ctrl+C")},

	{ConfirmYes, in(Confirm), "Yes", "Do it", keys("y")},
	{LeaveDetach, in(Leaving), "Detach (everything keeps running)", "Detach: everything keeps running; buddy prints how to come back", keys("d")},
	{LeaveKilling, in(Leaving), "Stop it and quit", "Stop what runs, and quit", keys("k")},
	{LeaveStay, in(Leaving), "Stay", "Stay in the session", keys("n", "Ctrl+C")},
	{ConfirmNo, in(Confirm), "No", "Leave it as it is", keys("n")},

	{PagerClose, in(Pager), "close", "Close the output", keys("q", "o")},

	{Pick, choosing, "choose", "Take what is selected", keys("Enter")},
	{PickUp, filtering, "", "Up in the list", keys("Up", "Ctrl+P")},
	{PickDown, filtering, "", "Down in the list", keys("Down", "Ctrl+N")},
	{PickPageUp, filtering, "", "Up a page", keys("PgUp")},
	{PickPageDown, filtering, "", "Down a page", keys("PgDn")},
	{PickFirst, filtering, "", "To the first row", keys("Home")},
	{PickLast, filtering, "", "To the last row", keys("End")},
	{PickErase, filtering, "", "Delete the last character of the search", keys("Backspace")},
	{PickClear, filtering, "", "Clear the search", keys("Ctrl+U")},
	{TabNext, in(Document), "next tab", "To the next tab", keys("Tab", "Right")},
	{TabPrevious, in(Document), "", "To the tab before", keys("Shift+Tab", "Left")},
	{PickKeys, in(Picker, Sessions), "", "Sessions: from the filter to the keys of the list, and back", keys("Tab")},
	{SessionFork, in(Sessions), "fork", "Go on with a copy, from a prompt on that you choose", keys("f")},
	{SessionRename, in(Sessions), "rename", "Give the session a title", keys("r")},
	{SessionDelete, in(Sessions), "delete", "Move the session to the trash; asks first", keys("x")},
	{SessionExport, in(Sessions), "export", "Write the session as Markdown into a file here", keys("E")},
	{SessionSearch, in(Sessions), "search", "Search the full text of all sessions; in the filter, a text after a slash does", keys("/")},
	{SessionExec, in(Sessions), "of exec", "Show the sessions that buddy exec began, or the others", keys("e")},
	{PickClose, choosing, "close", "Close the list", keys("Esc", "Ctrl+G")},
	{NamingDone, in(Naming), "accept", "Accept the text; an empty title goes back to the first prompt", keys("Enter")},
	{NamingCancel, in(Naming), "cancel", "Leave it as it is", keys("Esc")},

	{CopyChanges, in(Changes), "copy", "Copy all changes", keys("y")},
	{EditChanges, in(Changes), "editor", "Look at all changes in your editor ($VISUAL or $EDITOR)", keys("e")},
	{CloseChanges, in(Changes), "close", "Close the changes", keys("q")},

	{NextPane, in(Global), "next pane", "Next pane. Without room for the column: open the page with panes and tasks, or close it", keys("Tab", "Alt+Down")},
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
	{Back, in(Global, Approval, Question, Confirm, Leaving, Pager, Help, Changes), "", "Stop the agent. First closes what is open: a list, search, selection, dialog (an approval stays open), full screen, pane or subagent. Never denies anything", keys("Esc")},
	{Interrupt, in(Global), "", "Copy the selection, stop the agent, clear the draft (kept in the history) or, pressed twice, quit", keys("Ctrl+C")},
	{Narrower, in(Global), "", "Make the column wider; you can also drag its border", keys("Alt+Left")},
	{Wider, in(Global), "", "Make the conversation wider", keys("Alt+Right")},
	{Shorter, in(Global), "", "Make Live shorter and the tasks taller; you can also drag the border", keys("Alt+Shift+Up")},
	{Taller, in(Global), "", "Make Live taller and the tasks shorter", keys("Alt+Shift+Down")},
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
				panic(fmt.Sprintf("keymap: %s: %v", r.action, err)) // ours; a test checks it
			}
			e.Keys = append(e.Keys, k)
		}
		entries[i] = e
	}
	return entries
}
