// Package skills gives a session skills and custom commands: it reads them, tells the model which there are, loads the
// texts of those that a person or the model calls, and lists them. Their files are those of package skill.
package skills

import (
	"context"
	"fmt"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"buddy/agent/event"
	"buddy/agent/lostlimit"
	"buddy/agent/turn"
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
	// Below looks for skills in folders of the workspace, which Read finds from then on, and reports
	// whether it knows more than before; nil: there are none.
	Below func(ctx context.Context, dirs []string) (found bool, err error)
	// IsFile reports whether a path in the text of a skill, absolute, from ~ or from the workspace on,
	// leads to something there; nil: no text attaches files.
	IsFile func(ctx context.Context, name string) bool
	Off    []string    // globs of names that are switched off
	Fill   skill.Facts // what is filled into their texts
	Away   bool        // the project is not on this machine: commands in its texts do not run
}

// Book holds the skills of a session, and is a part of its exchanges. It is safe for concurrent use; use New.
type Book struct {
	turn.Nothing
	o      Options
	s      turn.Session // that it is a part of
	once   sync.Once
	first  chan struct{} // closed when they were read for the first time
	reopen sync.Once     // the folders of skills that an earlier process loaded
	below  below
	stale  atomic.Bool // a reading is due

	reading sync.Mutex // held while files are read, one reading after the other

	mu       sync.Mutex // guards all below
	set      Set
	lost     lostlimit.Said  // what the person knows of Problems
	switched map[string]bool // on or off in this session, by name
	used     map[string]int  // how often, by name
	listed   []event.CustomCommand
}

// New returns a book of which nothing was read.
func New(o Options) *Book {
	return &Book{
		o: o, first: make(chan struct{}), switched: make(map[string]bool), used: make(map[string]int),
		below: below{folders: make(map[string]bool), asked: make(map[string]string)},
	}
}

// Name returns "skills".
func (*Book) Name() string { return "skills" }

// Begin lets the skills be read when the session starts.
func (b *Book) Begin(s turn.Session) {
	b.s = s
	s.Stream.Observe(b.see)
}

// see takes up an event as it happens.
func (b *Book) see(env event.Envelope) {
	switch env.Payload.(type) {
	case event.SessionCreated, event.SessionResumed:
		b.readEarly()
	case event.ContextCompacted:
		b.stale.Store(true)
	default:
		b.below.see(env.Payload, b.s.Target)
	}
}

// Replay feeds a stored event of an earlier process.
func (b *Book) Replay(env event.Envelope) {
	if p, ok := env.Payload.(event.SkillLoaded); ok {
		b.countUse(p.Name)
	}
	b.below.see(env.Payload, b.s.Target)
}

// countUse counts a use of a skill.
func (b *Book) countUse(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used[name]++
}

// readEarly begins to read the skills, once, while the person still types.
func (b *Book) readEarly() {
	if b.o.Read == nil {
		return
	}
	b.once.Do(func() {
		b.s.Work.Go(func() {
			b.lookBelow(b.s.Context, maxRecent)
			b.read(b.s.Context)
			close(b.first)
			if b.stale.Load() { // a Refresh came meanwhile: perhaps for what had been read already
				b.read(b.s.Context)
			}
		})
	})
}

// await waits until the skills are read as they are now, or ctx ends.
func (b *Book) await(ctx context.Context) {
	if b.o.Read == nil {
		return
	}
	b.readEarly()
	select {
	case <-b.first:
	case <-ctx.Done():
		return
	}
	b.lookBelow(ctx, maxFiles)
	if b.stale.Load() {
		b.read(ctx)
	}
}

// Refresh reads the skills again, in the background, because files have changed.
func (b *Book) Refresh() {
	b.stale.Store(true)
	select {
	case <-b.first:
		if b.s.Context.Err() == nil {
			b.s.Work.Go(func() { b.read(b.s.Context) })
		}
	default: // after the first reading it is seen that another one is due
	}
}

// read reads the skills unless another reading, that began later than they were found stale, has.
func (b *Book) read(ctx context.Context) {
	b.reading.Lock()
	defer b.reading.Unlock()
	b.mu.Lock()
	fresh := !b.stale.Swap(false) && b.set.Skills != nil
	b.mu.Unlock()
	if fresh {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	set, err := b.o.Read(ctx)
	if err != nil && b.s.Context.Err() == nil {
		b.s.Stream.Publish(0, 0, event.Warning{Text: "skills and commands were not all read: " + err.Error(), Code: "skills", NextStep: "/compact or a new session tries again"})
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil && len(b.set.Skills) > len(set.Skills) {
		return // what is known is better than nothing
	}
	b.set = set
	b.lost.Tell(b.s.Stream, set.Problems)
	b.wake(b.below.used())
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
		b.s.Stream.Publish(0, 0, event.CommandsListed{Commands: now})
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

// find returns the skill of a name, unless it is switched off.
func (b *Book) find(name string) (skill.Skill, bool) {
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
	b.await(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.listed)
}

// LeftOut returns the files that were left out, or of which something was, once they are read.
func (b *Book) LeftOut(ctx context.Context) []extensions.Problem {
	b.await(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.set.Problems)
}

// names returns the names of the skills that a model may load.
func (b *Book) names() []string {
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

// lines returns what a model is told of the skills, for a window of so many tokens.
func (b *Book) lines(window int) []skill.Line {
	b.mu.Lock()
	defer b.mu.Unlock()
	return skill.Lines(b.on(), window, b.used)
}

// Switch switches a skill on or off for this session, and says so.
func (b *Book) Switch(name string, on bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.ContainsFunc(b.set.Skills, func(s skill.Skill) bool { return s.Name == name }) {
		return fmt.Errorf("there is no skill %q (/skills lists them all)", name)
	}
	b.switched[name] = on
	text := name + " is on in this session"
	if !on {
		text = name + " is off in this session; [skills] off in your settings switches it off in all"
	}
	b.s.Stream.Publish(0, 0, event.Notice{Text: text, Code: "skills"})
	b.publish()
	return nil
}
