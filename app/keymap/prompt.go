package keymap

// The actions of the prompt and its lists.
const (
	Send            Action = "send"
	Newline         Action = "newline"
	CharLeft        Action = "char-left"
	CharRight       Action = "char-right"
	WordLeft        Action = "word-left"
	WordRight       Action = "word-right"
	LineStart       Action = "line-start"
	LineEnd         Action = "line-end"
	LineUp          Action = "line-up"
	LineDown        Action = "line-down"
	DeleteLeft      Action = "delete-left"
	DeleteRight     Action = "delete-right"
	KillToEnd       Action = "kill-to-end"
	KillToStart     Action = "kill-to-start"
	KillWord        Action = "kill-word"
	KillWordLeft    Action = "kill-word-left"
	KillToSpaceLeft Action = "kill-to-space-left"
	Yank            Action = "yank"
	YankNext        Action = "yank-next"
	Transpose       Action = "transpose"
	Undo            Action = "undo"
	Redo            Action = "redo"
	SearchHistory   Action = "search-history"
	EditPrompt      Action = "edit-prompt"
	PasteImage      Action = "paste-image"
	ReadUp          Action = "read-up"
	ReadDown        Action = "read-down"
	EndOfInput      Action = "end-of-input"

	PopupUp     Action = "popup-up"
	PopupDown   Action = "popup-down"
	PopupAccept Action = "popup-accept"
	PopupRun    Action = "popup-run"
	PopupClose  Action = "popup-close"

	SearchOlder  Action = "search-older"
	SearchNewer  Action = "search-newer"
	SearchAccept Action = "search-accept"
	SearchErase  Action = "search-erase"
	SearchCancel Action = "search-cancel"

	ViInsert      Action = "vi-insert"
	ViAppend      Action = "vi-append"
	ViInsertStart Action = "vi-insert-start"
	ViAppendEnd   Action = "vi-append-end"
	ViOpenBelow   Action = "vi-open-below"
	ViOpenAbove   Action = "vi-open-above"
	ViLeft        Action = "vi-left"
	ViRight       Action = "vi-right"
	ViUp          Action = "vi-up"
	ViDown        Action = "vi-down"
	ViWord        Action = "vi-word"
	ViWordBack    Action = "vi-word-back"
	ViWordEnd     Action = "vi-word-end"
	ViLineStart   Action = "vi-line-start"
	ViFirst       Action = "vi-first"
	ViLineEnd     Action = "vi-line-end"
	ViFind        Action = "vi-find"
	ViTill        Action = "vi-till"
	ViFindBack    Action = "vi-find-back"
	ViTillBack    Action = "vi-till-back"
	ViSeekAgain   Action = "vi-seek-again"
	ViSeekBack    Action = "vi-seek-back"
	ViDelete      Action = "vi-delete"
	ViChange      Action = "vi-change"
	ViYank        Action = "vi-yank"
	ViDeleteChar  Action = "vi-delete-char"
	ViDeleteToEnd Action = "vi-delete-to-end"
	ViChangeToEnd Action = "vi-change-to-end"
	ViReplace     Action = "vi-replace"
	ViPut         Action = "vi-put"
	ViPutBefore   Action = "vi-put-before"
	ViUndo        Action = "vi-undo"
	ViRedo        Action = "vi-redo"

	ViBigWord        Action = "vi-big-word"
	ViBigWordBack    Action = "vi-big-word-back"
	ViBigEnd         Action = "vi-big-word-end"
	ViTop            Action = "vi-top"
	ViBottom         Action = "vi-bottom"
	ViMatch          Action = "vi-match"
	ViYankLine       Action = "vi-yank-line"
	ViDeleteBack     Action = "vi-delete-back"
	ViSubstitute     Action = "vi-substitute"
	ViSubstituteLine Action = "vi-substitute-line"
	ViOvertype       Action = "vi-overtype"
	ViCase           Action = "vi-case"
	ViJoin           Action = "vi-join"
	ViVisual         Action = "vi-visual"
	ViVisualLines    Action = "vi-visual-lines"
	ViRepeatChange   Action = "vi-repeat"
)

// promptTable is the first part of the table.
var promptTable = []row{
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

	{ViInsert, in(Vi), "insert", "Insert before the cursor. After d, c or y, or in a selection: the inside of the text object that the next key names: w or W (word), p (paragraph), \", ' or ` (quotes), (, [, { or < (brackets)", keys("i")},
	{ViAppend, in(Vi), "append", "Insert after the cursor. After d, c or y, or in a selection: that text object with the spaces, quotes or brackets around it", keys("a")},
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
	{ViDelete, in(Vi), "delete", "Delete the text that the next motion covers; twice: the line", keys("d")},
	{ViChange, in(Vi), "change", "Replace the text that the next motion covers; twice: the line", keys("c")},
	{ViYank, in(Vi), "", "Copy the text that the next motion covers; twice: the line", keys("y")},
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
}
