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

// Answer holds at most one of the shapes. The zero Answer has nothing to show.
type Answer struct {
	Text     *Text     `json:"text,omitempty"`
	List     *List     `json:"list,omitempty"`
	Document *Document `json:"document,omitempty"`
	Question *Question `json:"question,omitempty"`
	// Leave asks the screen to leave this session; nil: it stays.
	Leave *Leave `json:"leave,omitempty"`
	// Then is a command to run next, with the screen's facts at that time.
	Then []string `json:"then,omitempty"`
	// Open is a file on the screen's machine to open in the user's editor, at a line from 1; 0 is the start. Text then
	// describes the file.
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

// Text is a text for people.
type Text struct {
	Title string `json:"title,omitempty"`
	Body  string `json:"body"`
	Form  Form   `json:"form,omitempty"`
}

// List has rows to read and to choose from.
type List struct {
	Title   string   `json:"title"`
	Columns []string `json:"columns"` // their names; the first uses the room left by the others
	Rows    []Row    `json:"rows"`
	Empty   string   `json:"empty,omitempty"`  // shown while there is no row
	Note    string   `json:"note,omitempty"`   // a line below the rows
	Unfold  bool     `json:"unfold,omitempty"` // plain text shows More for each row
	Most    int      `json:"most,omitempty"`   // rows that plain text shows; 0 is all
	Usage   string   `json:"usage,omitempty"`  // what to type, if no row can be chosen
	// Rest is the command that returns the same list with facts that take longer to find; nil: the list has all.
	Rest []string `json:"rest,omitempty"`
	// Done is the command to run when the list is closed after an action; nil is none.
	Done []string `json:"done,omitempty"`
	// Changes means that rows change by themselves: an open list is read again when the session reports a change.
	Changes bool `json:"changes,omitempty"`
	// Numbered means that a cell has the number that commands use for the row: plain text adds no other.
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

// IDOf returns a short id for a row, computed from texts.
func IDOf(all ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(all, "\x00")))
	return hex.EncodeToString(sum[:4])
}

// Deed is an action on a row, or a choice of a question. It runs another command.
type Deed struct {
	Label string   `json:"label"`
	Run   []string `json:"run,omitempty"` // the name of the command and its arguments; nil does nothing
	// Edit is a text for the person to edit, which becomes the last argument; "" is none. Unchanged text does nothing.
	Edit   string `json:"edit,omitempty"`
	Typed  bool   `json:"typed,omitempty"`  // the person types a line, starting from Edit; it may be "" or unchanged
	Closes bool   `json:"closes,omitempty"` // the list is closed first
	// Secret means that a text is typed unseen for the command. It is then the only choice of a question.
	Secret bool   `json:"secret,omitempty"`
	Key    string `json:"key,omitempty"` // in a question with a Scope: the action whose keys make this choice
}

// Document has sections of values, for a dialog with a tab for each of its documents.
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

// Question asks the person to choose.
type Question struct {
	Title   string   `json:"title"`
	Lines   []string `json:"lines,omitempty"`
	Choices []Deed   `json:"choices"`
	Whole   bool     `json:"whole,omitempty"` // the first choice requires that the end of Lines was on the screen
	// Scope names the scope of keys in which each choice has its own action; "" is none: choices only have numbers.
	Scope string `json:"scope,omitempty"`
}

// Say returns an answer that is a short text.
func Say(text string) Answer { return Answer{Text: &Text{Body: text}} }
