// Package memory remembers what the user teaches the agent: rules, facts and corrections. They are single lines in
// Markdown files, which people can read, edit and commit.
//
//	store := memory.Open(memory.Options{Sources: sources, Dir: ".buddyx/memory", Session: id})
//	change, err := store.Add(ctx, memory.Draft{Scope: memory.Folder, Kind: memory.Rule, Text: "Use pnpm."})
//	listing, err := store.Entries(ctx) // the entries, and the parts of the files that were skipped
//
// [Store.Observe] records a session in a separate file, which is never sent to a model. [Store.Distill] derives rules
// from these records, without a model. What the user said or did becomes a rule at once. What command output claims
// is only proposed to the user, because anybody can write output.
package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/redact"
	"buddy/texts"
)

// Code marks events about memory.
const Code = "memory"

// maxFile limits a memory file, in bytes: some 10,000 entries.
const maxFile = 4 << 20

// Files reads the files of a source's machine. A *file.Workspace implements it.
type Files interface {
	// Peek returns the content of a regular file of at most max bytes, and its path without symbolic links. The error
	// for a missing file is fs.ErrNotExist.
	Peek(ctx context.Context, path string, max int64) (real string, data []byte, err error)
}

// Source locates a memory file, whether it exists or not.
type Source struct {
	Scope  Scope
	Path   string // absolute
	Files  Files
	Inside string // the real path of the folder that must contain the file
	Base   string // the base of the globs in Note.Paths
	Remote string // the target with the file, which this process can't write; "" for this machine
}

// Options configure a Store. Only Sources and Dir are required.
type Options struct {
	// Sources returns the files, widest scope first.
	Sources func(context.Context) ([]Source, error)
	Dir     string // holds the file of records, on this machine; "" observes nothing
	Session string
	Target  string            // the target at the session's start, as actions name it
	Limit   int               // bytes of memory in the system prompt; 0 is MaxShare
	Person  bool              // a person's prompts may teach
	Redact  *redact.Redactor  // removes secrets of this session
	Publish func(event.Event) // publishes an event in the session; nil where none runs
	Now     func() time.Time  // nil is time.Now
}

// Store is the memory of a session. It is safe for concurrent use.
type Store struct {
	o        Options
	clean    cleaner
	recorder *recorder

	mu       sync.Mutex      // guards all below
	off      error           // why memory is off; nil: it is on
	mode     action.Mode     // in plan mode nothing is written
	inPrompt share           // what the system prompt contains
	active   []Entry         // the entries that held at the last read
	news     []Entry         // written in this session
	gone     []Entry         // entries of inPrompt that were forgotten in this session
	touched  map[string]bool // targets that calls have named
	undo     [][]step        // changes of this session, latest last

	writable []Scope // scopes whose files this process can write
}

// Open returns the memory of a session. It reads and writes nothing.
func Open(o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Limit <= 0 || o.Limit > MaxShare {
		o.Limit = MaxShare
	}
	s := &Store{o: o, clean: cleaner{o.Redact}, touched: make(map[string]bool)}
	s.recorder = newRecorder(s)
	return s
}

// Off switches memory off for this session: buddy observes, learns and sends nothing more.
func (s *Store) Off() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.off = errOff
}

// Errors of a memory that was switched off: by Off, and by the settings.
var (
	errOff      = errors.New("memory is off in this session (/memory off); it is on again in the next session")
	errDisabled = errors.New("memory is off: [memory] enabled is false (buddy memory on turns it on for later sessions)")
)

// ended returns why memory is off, or nil.
func (s *Store) ended() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.off
}

func (s *Store) today() string { return s.o.Now().Format(day) }

// Listing holds the contents of the files.
type Listing struct {
	Entries  []Entry   // in file order; entries that are Overridden do not hold
	Problems []Problem // what was skipped
}

// Skipped reports what was skipped in one line, or returns "".
func (l Listing) Skipped() string {
	if len(l.Problems) == 0 {
		return ""
	}
	var all []string
	for _, p := range l.Problems {
		all = append(all, p.String())
	}
	return "memory: " + texts.Some(all)
}

// Stale reports in one line how many entries the person should confirm or drop, or returns "".
func (l Listing) Stale() string {
	n := 0
	for _, e := range l.Entries {
		if e.Asked {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("memory has entries that nothing has confirmed for %d days: %d; keep or forget them in /memory", int(asked/(24*time.Hour)), n)
}

// Entries reads all files. An error means that a target could not be read; the listing then has the other files.
func (s *Store) Entries(ctx context.Context) (Listing, error) {
	if err := s.ended(); err != nil {
		return Listing{}, err
	}
	l, _, err := s.read(ctx)
	return l, err
}

// file is a memory file with its content.
type file struct {
	Source
	doc    document
	data   []byte
	exists bool
}

// read reads all files and stores the entries that hold.
func (s *Store) read(ctx context.Context) (l Listing, all []file, failed error) {
	sources, failed := s.o.Sources(ctx)
	for _, src := range sources {
		f, problems := load(ctx, src)
		l.Problems = append(l.Problems, problems...)
		all = append(all, f)
		l.Entries = slices.Concat(l.Entries, f.entries())
	}
	now := s.o.Now()
	for i := range l.Entries {
		l.Entries[i].age(now)
	}
	override(l.Entries)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active, s.writable = holding(l.Entries), writable(sources)
	return l, all, failed
}

// holding returns the entries that no other entry overrides.
func holding(all []Entry) []Entry {
	return slices.DeleteFunc(slices.Clone(all), func(e Entry) bool { return e.Overridden != "" })
}

// load reads one file. A missing file is empty.
func load(ctx context.Context, src Source) (f file, problems []Problem) {
	f.Source = src
	real, data, err := src.Files.Peek(ctx, src.Path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return f, nil
	case err != nil:
		return f, []Problem{{File: src.Path, Why: "was skipped: " + err.Error()}}
	case src.Inside != "" && !texts.Below(real, src.Inside):
		return f, []Problem{{File: src.Path, Why: "was skipped: it is outside " + src.Inside}}
	case slices.Contains(data, 0):
		return f, []Problem{{File: src.Path, Why: "was skipped: it is not a text file"}}
	}
	f.data, f.exists = data, true
	f.doc, problems = parse(data)
	for i := range problems {
		problems[i].File = src.Path
	}
	return f, problems
}

// entries returns the entries of the file with its scope and path.
func (f file) entries() []Entry {
	all := f.doc.entries()
	for i := range all {
		all[i].Scope, all[i].File = f.Scope, f.Path
	}
	return all
}

// Draft describes an entry to be written.
type Draft struct {
	Scope  Scope // "" is Folder
	Kind   Kind  // "" is Rule
	Text   string
	Paths  []string // globs of the files for which it holds
	Target string
	Note   Note // further words of the entry's comment, such as by:ann
}

// Change describes what a call wrote.
type Change struct {
	Entries []Entry // the new versions
	Gone    []Entry // removed entries
	Diff    string  // of the files, as diff -u prints it
}

// Text joins the changed entries in one line.
func (c Change) Text() string {
	var all []string
	for _, e := range c.Entries {
		all = append(all, e.Text)
	}
	return strings.Join(all, " · ")
}

// mayWrite returns why writing is not allowed, or nil.
func (s *Store) mayWrite() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.off != nil:
		return s.off
	case s.mode == action.ModePlan:
		return errors.New("plan mode changes nothing, not even memory: do this when plan mode has ended")
	}
	return nil
}

// entry checks a draft and makes an entry of it.
func (s *Store) entry(d Draft, taken func(string) bool) (Entry, error) {
	text, err := cleanText(s.clean.text(d.Text))
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Scope: d.Scope, Kind: d.Kind, Text: text}
	if e.Scope == "" {
		e.Scope = Folder
	}
	if e.Kind == "" {
		e.Kind = Rule
	}
	if !slices.Contains(Scopes, e.Scope) || !slices.Contains(kinds, e.Kind) {
		return Entry{}, fmt.Errorf("unknown scope %q or kind %q (scopes: %s; kinds: %s)", e.Scope, e.Kind, texts.Names(Scopes), texts.Names(kinds))
	}
	for _, glob := range d.Paths {
		if !validGlob(glob) {
			return Entry{}, fmt.Errorf("%q is not a glob pattern of files", glob)
		}
	}
	e.ID = newID(letterOf(e.Kind), 4, taken, e.Text)
	e.Note = Note{e.ID, s.today()}
	for _, w := range d.Note {
		e.Note = append(e.Note, comment(s.clean.text(w)))
	}
	e.Note = e.Note.with("paths", strings.Join(d.Paths, ",")).with("target", d.Target)
	return e, nil
}

// Add writes an entry. If its file already has the entry, the existing entry is confirmed.
func (s *Store) Add(ctx context.Context, d Draft) (Change, error) {
	return s.change(ctx, func(w *writing) error {
		e, err := s.entry(d, w.taken)
		if err != nil {
			return err
		}
		f, err := w.file(e.Scope)
		if err != nil {
			return err
		}
		if i := same(f.doc, e); i >= 0 {
			w.confirm(f, i, e)
		} else {
			w.add(f, e)
		}
		return nil
	})
}

// same returns the index of the line with the same text and limits, or -1.
func same(d document, e Entry) int {
	return slices.IndexFunc(d.lines, func(l line) bool {
		return l.entry != nil && strings.EqualFold(l.entry.Text, e.Text) &&
			l.entry.Note.Target() == e.Note.Target() && slices.Equal(l.entry.Note.Paths(), e.Note.Paths())
	})
}

// Edit replaces the text of an entry.
func (s *Store) Edit(ctx context.Context, id, text string) (Change, error) {
	text, err := cleanText(s.clean.text(text))
	if err != nil {
		return Change{}, err
	}
	return s.change(ctx, func(w *writing) error {
		f, i, err := w.find(id)
		if err != nil {
			return err
		}
		e := *f.doc.lines[i].entry
		e.Text, e.Note = text, e.Note.with("checked", s.today())
		w.replace(f, i, e)
		return nil
	})
}

// Confirm records that an entry is right today.
func (s *Store) Confirm(ctx context.Context, id string) (Change, error) {
	return s.change(ctx, func(w *writing) error {
		f, i, err := w.find(id)
		if err != nil {
			return err
		}
		e := *f.doc.lines[i].entry
		e.Note = e.Note.with("checked", s.today())
		w.replace(f, i, e)
		return nil
	})
}

// Forget removes an entry from its file.
func (s *Store) Forget(ctx context.Context, id string) (Change, error) {
	return s.change(ctx, func(w *writing) error {
		f, i, err := w.find(id)
		if err == nil {
			w.remove(f, i)
		}
		return err
	})
}

// Share moves an entry to the team's file, which is committed.
func (s *Store) Share(ctx context.Context, id string) (Change, error) {
	return s.change(ctx, func(w *writing) error {
		f, i, err := w.find(id)
		if err != nil {
			return err
		}
		team, err := w.file(Team)
		switch {
		case err != nil:
			return err
		case f.Scope == Team:
			return fmt.Errorf("%s is in the team's file already", id)
		}
		e := *f.doc.lines[i].entry
		e.Scope, e.Note = Team, shared(e.Note)
		w.remove(f, i)
		if at := same(team.doc, e); at >= 0 {
			w.confirm(team, at, e)
		} else {
			w.add(team, e)
		}
		return nil
	})
}

// shared returns a note without the words that refer to this machine's records.
func shared(n Note) Note {
	return slices.DeleteFunc(slices.Clone(n), func(w string) bool {
		name, _, ok := strings.Cut(w, ":")
		return strings.HasPrefix(w, `"`) || ok && slices.Contains([]string{"from", "session", "call", "denied", "edited", "undone"}, name)
	})
}

// Undo reverts the latest change of this session, learned or made by the person.
func (s *Store) Undo(ctx context.Context) (Change, error) {
	s.mu.Lock()
	if len(s.undo) == 0 {
		s.mu.Unlock()
		return Change{}, errors.New("nothing to undo: this session has written nothing to memory")
	}
	steps := s.undo[len(s.undo)-1]
	s.mu.Unlock()
	c, err := s.change(ctx, func(w *writing) error { return w.revert(steps) })
	if err != nil {
		return c, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.undo = s.undo[:max(len(s.undo)-2, 0)] // the change and its undoing
	return c, nil
}
