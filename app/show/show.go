// Package show has the four shapes in which a command answers: a text, a list, a document and a
// question. A command makes one of them without knowing who asks; the full screen, plain mode and
// the command line each draw every shape in one place. The JSON of an [Answer] is what a host
// sends to its screens.
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
// All texts may come from a file, a server or a model: who draws them makes them harmless.
package show

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Answer holds what a command answers with: at most one of the shapes. The zero Answer has nothing to
// show.
type Answer struct {
	Text     *Text     `json:"text,omitempty"`
	List     *List     `json:"list,omitempty"`
	Document *Document `json:"document,omitempty"`
	Question *Question `json:"question,omitempty"`
	// Leave asks the screen to leave this session for another one; nil: it stays.
	Leave *Leave `json:"leave,omitempty"`
	// Then is a command to run next, with what the screen knows then.
	Then []string `json:"then,omitempty"`
	// Open is a file of the screen's machine for the person's editor, at a line from 1; 0 is the beginning. The text is about it.
	Open string `json:"open,omitempty"`
	Line int    `json:"line,omitempty"`
}

// Leave says where a screen goes from its session: to another one, or to its end.
type Leave struct {
	Session string `json:"session"`          // "" is a new one
	Quit    bool   `json:"quit,omitempty"`   // no session follows
	Detach  bool   `json:"detach,omitempty"` // when quitting: the session keeps running
	Kill    bool   `json:"kill,omitempty"`   // when quitting: what still runs in panes is stopped
}

// Form says how a text is shown.
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

// List is rows to look at and to choose from.
type List struct {
	Title   string   `json:"title"`
	Columns []string `json:"columns"` // their names; the first takes the room that the others leave
	Rows    []Row    `json:"rows"`
	Empty   string   `json:"empty,omitempty"`  // shown while there is no row
	Note    string   `json:"note,omitempty"`   // a line below the rows
	Unfold  bool     `json:"unfold,omitempty"` // plain text shows all that is known of each row
	Most    int      `json:"most,omitempty"`   // rows that plain text shows; 0 is all
	Usage   string   `json:"usage,omitempty"`  // what to type, where no row can be chosen
	// Rest is the command whose answer is the same list with what takes longer to find out; nil: the list has
	// all.
	Rest []string `json:"rest,omitempty"`
	// Done is the command to run when the list is closed after a deed; nil is none.
	Done []string `json:"done,omitempty"`
	// Changes means that rows change by themselves: an open list is read again when the session says that
	// something has changed.
	Changes bool `json:"changes,omitempty"`
	// Numbered means that a cell says the number that commands know a row by: plain text gives rows no other.
	Numbered bool `json:"numbered,omitempty"`
}

// Row is one thing of a list.
type Row struct {
	ID    string   `json:"id"` // stays the same while rows come and go
	Cells []string `json:"cells"`
	Find  string   `json:"find,omitempty"`    // what a filter looks at; "" is the cells
	Mark  bool     `json:"mark,omitempty"`    // it is the one in use, or waits for the person
	Line  string   `json:"line,omitempty"`    // a line about it, shown while it is selected
	Title string   `json:"title,omitempty"`   // of the question which deed; "" is the first cell
	More  []string `json:"preview,omitempty"` // all that is known of it, shown before a deed is chosen
	Whole bool     `json:"whole,omitempty"`   // the first deed needs the end of More to have been on the screen
	Deeds []Deed   `json:"deeds,omitempty"`
}

// IDOf returns a short id for a row that is what texts say together.
func IDOf(all ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(all, "\x00")))
	return hex.EncodeToString(sum[:4])
}

// Deed is something that can be done with a row, or a choice of a question: another command.
type Deed struct {
	Label string   `json:"label"`
	Run   []string `json:"run,omitempty"` // the name of the command and its arguments; nil does nothing
	// Edit is a text for the person to edit, which becomes the last argument; "" is none. Nothing is done if it
	// is left as it is.
	Edit   string `json:"edit,omitempty"`
	Typed  bool   `json:"typed,omitempty"`  // a line is typed, which begins with Edit; it may be "" and may stay
	Closes bool   `json:"closes,omitempty"` // the list is closed first
	// Secret means that a text is typed for the command where nobody sees it. It is the only choice of a question then.
	Secret bool   `json:"secret,omitempty"`
	Key    string `json:"key,omitempty"` // of a question with a scope: the action of its keys
}

// Document is sections of values, for a dialog with a tab for each document that belongs to it.
type Document struct {
	Title    string    `json:"title"`
	Tabs     []Deed    `json:"tabs,omitempty"` // the documents of the dialog; the label of this one is Title
	Sections []Section `json:"sections"`
	Usage    string    `json:"usage,omitempty"` // what to type, where no value can be chosen
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
	From    string `json:"from,omitempty"`     // where it comes from, such as a file
	BuiltIn bool   `json:"built_in,omitempty"` // nobody has set it: it is left out where all of a document is printed
	Line    string `json:"line,omitempty"`     // a line about it, shown while it is selected
	Deeds   []Deed `json:"deeds,omitempty"`    // that change it
}

// Question asks the person to choose.
type Question struct {
	Title   string   `json:"title"`
	Lines   []string `json:"lines,omitempty"`
	Choices []Deed   `json:"choices"`
	Whole   bool     `json:"whole,omitempty"` // the first choice needs the end of Lines to have been on the screen
	// Scope names the scope of keys in which each choice has an action of its own; "" is none: they have numbers alone.
	Scope string `json:"scope,omitempty"`
}

// Say returns an answer that is a short text.
func Say(text string) Answer { return Answer{Text: &Text{Body: text}} }
