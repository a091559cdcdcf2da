// Package skills holds the skills and custom commands of a session: which ones there are now, who
// may be told of them, and what a person sees of that.
//
//	book := skills.NewBook(ctx, &work, events, skills.Options{Read: read})
//	book.Await(ctx)
//	s, ok := book.Find("review")
package skills

import (
	"context"
	"path"
	"slices"
	"sync"
	"time"

	"buddy/agent/event"
	"buddy/agent/stream"
	"buddy/extensions"
	"buddy/extensions/skill"
)

// readTime limits how long skills may take to be read. What is not there by then is left out.
const readTime = 5 * time.Second

// Set holds what was found: in the order in which it takes precedence, and what was left out.
type Set struct {
	Skills   []skill.Skill
	Problems []extensions.Problem
}

// Options say where skills come from. The zero value has none.
type Options struct {
	// Read finds the skills; nil: there are none. It is called before the first request, after
	// each compaction and each Refresh, and takes a few seconds at most.
	Read func(context.Context) (Set, error)
	// Below looks for skills in folders of Workspace, which Read finds from then on, and reports
	// whether it knows more than before; nil: there are none.
	Below     func(ctx context.Context, dirs []string) (found bool, err error)
	Workspace string // of the first target, which the runtime fills in; absolute, without symbolic links
	Target    string // the first one, which the runtime fills in
	// IsFile reports whether a path in the text of a skill, absolute, from ~ or from Workspace on,
	// leads to something there; nil: no text attaches files.
	IsFile func(ctx context.Context, name string) bool
	Off    []string    // globs of names that are switched off
	Fill   skill.Facts // what is filled into their texts
	// NoCommands says why commands in the texts of a project do not run; "" if they may.
	NoCommands string
}

// Book is safe for concurrent use; use NewBook.
type Book struct {
	o      Options
	stream *stream.Stream
	whole  context.Context // of the session
	work   *sync.WaitGroup
	once   sync.Once
	first  chan struct{} // closed when they were read for the first time

	reading sync.Mutex // held while they are read, one reading after the other

	mu       sync.Mutex // guards all below
	set      Set
	lost     Lost            // what the person knows of Problems
	stale    bool            // a reading is due
	switched map[string]bool // on or off in this session, by name
	used     map[string]int  // how often, by name
	listed   []event.CustomCommand
	below    below
}

// NewBook returns a book of which nothing was read. What is read in the background ends with ctx
// and is counted by work.
func NewBook(ctx context.Context, work *sync.WaitGroup, s *stream.Stream, o Options) *Book {
	return &Book{
		o: o, stream: s, whole: ctx, work: work, first: make(chan struct{}), switched: make(map[string]bool), used: make(map[string]int),
		below: below{folders: make(map[string]bool), asked: make(map[string]string)},
	}
}

// Replay feeds a stored event of an earlier process.
func (b *Book) Replay(e event.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p, ok := e.(event.SkillLoaded); ok {
		b.used[p.Name]++
	}
	b.replayFile(e)
}

// Fill returns what is filled into the texts of skills.
func (b *Book) Fill() skill.Facts { return b.o.Fill }

// NoCommands returns why commands in the texts of a project do not run, "" if they may.
func (b *Book) NoCommands() string { return b.o.NoCommands }

// IsFile reports whether a path in the text of a skill leads to something.
func (b *Book) IsFile(ctx context.Context, name string) bool {
	return b.o.IsFile != nil && b.o.IsFile(ctx, name)
}

// Used counts a use of a skill.
func (b *Book) Used(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used[name]++
}

// ReadEarly begins to read the skills, once, while the person still types.
func (b *Book) ReadEarly() {
	if b.o.Read == nil {
		return
	}
	b.once.Do(func() {
		b.work.Go(func() {
			b.searchAgain()
			b.read(b.whole)
			close(b.first)
			if b.isStale() { // a Refresh came meanwhile: perhaps for what had been read already
				b.read(b.whole)
			}
		})
	})
}

// Await waits until the skills are read as they are now, or ctx ends.
func (b *Book) Await(ctx context.Context) {
	if b.o.Read == nil {
		return
	}
	b.ReadEarly()
	select {
	case <-b.first:
	case <-ctx.Done():
		return
	}
	if b.isStale() {
		b.read(ctx)
	}
}

// isStale reports whether a reading is due.
func (b *Book) isStale() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stale
}

// Stale lets the skills be read again before the next request.
func (b *Book) Stale() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stale = true
}

// Refresh reads the skills again, in the background, because files have changed.
func (b *Book) Refresh() {
	if b.whole.Err() != nil {
		return
	}
	b.Stale()
	select {
	case <-b.first:
		b.work.Go(func() { b.read(b.whole) })
	default: // after the first reading it is seen that another one is due
	}
}

// read reads the skills unless another reading, that began later than they were found stale, has.
func (b *Book) read(ctx context.Context) {
	b.reading.Lock()
	defer b.reading.Unlock()
	b.mu.Lock()
	fresh := !b.stale && b.set.Skills != nil
	b.stale = false
	b.mu.Unlock()
	if fresh {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	set, err := b.o.Read(ctx)
	if err != nil && b.whole.Err() == nil {
		b.stream.Publish(0, 0, event.Warning{Text: "skills and commands were not all read: " + err.Error(), Code: "skills", NextStep: "/compact or a new session tries again"})
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil && len(b.set.Skills) > len(set.Skills) {
		return // what is known is better than nothing
	}
	b.set = set
	b.lost.Say(b.stream, set.Problems)
	b.wake(b.below.files)
	b.publish()
}

// publish says which commands there are if they are others than before. The caller holds b.mu.
func (b *Book) publish() {
	var now []event.CustomCommand
	for _, s := range b.set.Skills {
		if s.Typed && !b.off(s.Name) {
			now = append(now, event.CustomCommand{Name: s.Name, Args: s.Hint, Help: s.Description, Origin: string(s.Origin)})
		}
	}
	if !slices.Equal(now, b.listed) {
		b.listed = now
		b.stream.Publish(0, 0, event.CommandsListed{Commands: now})
	}
}

// off reports whether a skill is switched off. The caller holds b.mu.
func (b *Book) off(name string) bool {
	if on, ok := b.switched[name]; ok {
		return !on
	}
	return slices.ContainsFunc(b.o.Off, func(glob string) bool {
		ok, err := path.Match(glob, name)
		return ok && err == nil
	})
}

// on returns the skills that are not switched off. The caller holds b.mu.
func (b *Book) on() []skill.Skill {
	return slices.DeleteFunc(slices.Clone(b.set.Skills), func(s skill.Skill) bool { return b.off(s.Name) })
}

// Find returns the skill of a name, unless it is switched off.
func (b *Book) Find(name string) (skill.Skill, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.on()
	if i := slices.IndexFunc(all, func(s skill.Skill) bool { return s.Name == name }); i >= 0 {
		return all[i], true
	}
	return skill.Skill{}, false
}

// Commands returns the skills and custom commands that a person may call, once they are read.
func (b *Book) Commands(ctx context.Context) []event.CustomCommand {
	b.Await(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.listed)
}

// LeftOut returns the files that were left out, or of which something was, once they are read.
func (b *Book) LeftOut(ctx context.Context) []extensions.Problem {
	b.Await(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.set.Problems)
}

// Names returns the names of the skills that a model may load.
func (b *Book) Names() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var names []string
	for _, s := range b.on() {
		if s.Listed || s.Origin == extensions.BuiltIn {
			names = append(names, s.Name)
		}
	}
	return names
}

// Lines returns what a model is told of the skills, for a window of so many tokens.
func (b *Book) Lines(window int) []skill.Line {
	b.mu.Lock()
	defer b.mu.Unlock()
	return skill.Lines(b.on(), window, b.used)
}

// Switch switches a skill on or off for this session, and says so.
func (b *Book) Switch(name string, on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.ContainsFunc(b.set.Skills, func(s skill.Skill) bool { return s.Name == name }) {
		b.stream.Reject("there is no skill %q (/skills lists them all)", name)
		return
	}
	b.switched[name] = on
	text := name + " is on in this session"
	if !on {
		text = name + " is off in this session; [skills] off in your settings switches it off in all"
	}
	b.stream.Publish(0, 0, event.Notice{Text: text, Code: "skills"})
	b.publish()
}
