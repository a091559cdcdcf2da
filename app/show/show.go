// Package show defines the answers of commands: a text, a list, a document or a question. A command returns an
// [Answer] and need not know who shows it: the full screen, plain mode, the command line, or a screen in another
// process, which gets it as JSON.
//
//	show.Answer{List: &show.List{
//		Title:   "Servers",
//		Columns: []string{"name", "state"},
//		Rows: []show.Row{{
//			ID: "files", Cells: []string{"files", "ready"},
//			Deeds: []show.Deed{{Label: "switch it off", Run: []string{"mcp", "off", "files"}}},
//		}},
//	}}
//
// All texts may come from a file, a server or a model, so whoever draws them must make them safe.
package show

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Answer is a command's answer. It has at most one of Text, List, Document and Question. The zero Answer has nothing to
// show.
type Answer struct {
	Text     *Text     `json:"text,omitempty"`
	List     *List     `json:"list,omitempty"`
	Document *Document `json:"document,omitempty"`
	Question *Question `json:"question,omitempty"`
	// Leave asks the screen to leave this session; nil means that it stays.
	Leave *Leave `json:"leave,omitempty"`
	// Then is a command that the screen runs next, with its then current knowledge of the session.
	Then []string `json:"then,omitempty"`
	// Open is a file on the screen's machine to open in the user's editor, at the line Line, counted from 1; 0 means the
	// start. Text then describes the file.
	Open string `json:"open,omitempty"`
	Line int    `json:"line,omitempty"`
}

// Leave describes where a screen goes from its session: to another one, or to its end.
type Leave struct {
	Session string `json:"session"`          // "" is a new one
	Quit    bool   `json:"quit,omitempty"`   // no session follows
	Detach  bool   `json:"detach,omitempty"` // when quitting: the session keeps running
	Kill    bool   `json:"kill,omitempty"`   // when quitting: commands that still run in panes are stopped
}

// Form selects how a text is shown.
type Form string

// The forms of a text.
const (
	Notice Form = ""     // a few lines in the conversation
	Diff   Form = "diff" // a unified diff
)

// Text is a text to show.
type Text struct {
	Title string `json:"title,omitempty"`
	Body  string `json:"body"`
	Form  Form   `json:"form,omitempty"`
}

// List is a list whose rows can be read, and chosen to run an action.
type List struct {
	Title   string   `json:"title"`
	Columns []string `json:"columns"` // their names; the first uses the room left by the others
	Rows    []Row    `json:"rows"`
	Empty   string   `json:"empty,omitempty"`  // shown while there is no row
	Note    string   `json:"note,omitempty"`   // a line below the rows
	Unfold  bool     `json:"unfold,omitempty"` // plain text shows More for each row
	Most    int      `json:"most,omitempty"`   // rows that plain text shows; 0 is all
	Usage   string   `json:"usage,omitempty"`  // what to type, if no row can be chosen
	// Rest is the command that returns the same list with facts that take longer to find; nil means that the list is
	// complete.
	Rest []string `json:"rest,omitempty"`
	// Done is the command to run when the list is closed after an action; nil means none.
	Done []string `json:"done,omitempty"`
	// Changes means that rows change by themselves: an open list is read again when the session reports a change.
	Changes bool `json:"changes,omitempty"`
	// Numbered means that a cell shows the number by which commands name the row, so that plain text adds no row numbers.
	Numbered bool `json:"numbered,omitempty"`
}

// Row is an item of a list.
type Row struct {
	ID    string   `json:"id"` // does not change when other rows are added or removed
	Cells []string `json:"cells"`
	Find  string   `json:"find,omitempty"`    // the text for filters; "" is the cells
	Group string   `json:"group,omitempty"`   // a heading above adjacent rows that have the same Group; "" is none
	Mark  bool     `json:"mark,omitempty"`    // it is in use, or waits for the person
	Line  string   `json:"line,omitempty"`    // a line about the row, shown while it is selected
	Title string   `json:"title,omitempty"`   // of the question which action to run; "" is the first cell
	More  []string `json:"preview,omitempty"` // all known facts about the row, shown before an action is chosen
	Whole bool     `json:"whole,omitempty"`   // the first action requires that the end of More was on the screen
	Deeds []Deed   `json:"deeds,omitempty"`
}

// IDOf returns a short id for a row. It is a hash of the given texts.
func IDOf(all ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(all, "\x00")))
	return hex.EncodeToString(sum[:4])
}

// Deed is an action on a row, or a choice in a question. It runs another command.
type Deed struct {
	Label string   `json:"label"`
	Run   []string `json:"run,omitempty"` // the name of the command and its arguments; nil does nothing
	// Edit is a text for the user to edit, which becomes the command's last argument; "" means none. If the text is not
	// changed, the command is not run.
	Edit   string `json:"edit,omitempty"`
	Typed  bool   `json:"typed,omitempty"`  // the person types a line, starting from Edit; it may be "" or unchanged
	Closes bool   `json:"closes,omitempty"` // the list is closed first
	// Secret means that the user types a secret for the command, which is not shown. Such a Deed is the only choice of its
	// question.
	Secret bool   `json:"secret,omitempty"`
	Key    string `json:"key,omitempty"` // in a question with a Scope: the action whose keys make this choice
}

// Document has sections of values. It is shown in a dialog, together with the other documents in Tabs.
type Document struct {
	Title    string    `json:"title"`
	Tabs     []Deed    `json:"tabs,omitempty"` // the documents of the dialog; the label of this one is Title
	Sections []Section `json:"sections"`
	Usage    string    `json:"usage,omitempty"` // what to type, if no value can be chosen
}

// Section is a part of a document.
type Section struct {
	Title  string  `json:"title,omitempty"`
	Values []Value `json:"values"`
}

// Value is a line of a document.
type Value struct {
	Label   string `json:"label"` // one or two words
	Text    string `json:"text"`
	From    string `json:"from,omitempty"`     // its source, such as a file
	BuiltIn bool   `json:"built_in,omitempty"` // nobody has set it: omitted when a whole document is printed
	Line    string `json:"line,omitempty"`     // a line about it, shown while it is selected
	Deeds   []Deed `json:"deeds,omitempty"`    // actions that change it
}

// Question asks the user to choose.
type Question struct {
	Title   string   `json:"title"`
	Lines   []string `json:"lines,omitempty"`
	Choices []Deed   `json:"choices"`
	Whole   bool     `json:"whole,omitempty"` // the first choice requires that the end of Lines was on the screen
	// Scope names the key scope in which each choice has an action with its own keys; "" means that choices have only
	// numbers.
	Scope string `json:"scope,omitempty"`
}

// Say returns an answer that is a short text.
func Say(text string) Answer { return Answer{Text: &Text{Body: text}} }
