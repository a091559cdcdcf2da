package conversation

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"buddy/agent/event"
	"buddy/agent/instructions"
	"buddy/agent/redact"
	"buddy/agent/reminder"
	"buddy/agent/stream"
)

// instructionTime limits how long instruction files may take to be read. What is not there by
// then is left out.
const instructionTime = 5 * time.Second

// maxFolders limits the folders that are searched for instruction files of one conversation, up to
// a compaction.
const maxFolders = 200

// below holds what a conversation was told of the folders in which it works, since its last
// compaction.
type below struct {
	dirs map[string]bool // in which was looked
	set  instructions.Set
	used []string // the files that it was told something for
	lost bool     // a compaction has taken out what it was told, for used and for the files in work
}

// clone returns what a fork was told, which changes apart from it.
func (b *below) clone() below {
	return below{maps.Clone(b.dirs), instructions.Set{Files: slices.Clone(b.set.Files), Rules: slices.Clone(b.set.Rules)}, slices.Clone(b.used), b.lost}
}

// knows reports whether a file was told already, or is too much beside those that were.
func (b *below) knows(f instructions.File) bool {
	room := instructions.MaxAll
	for _, known := range b.set.Files {
		if known.Path == f.Path {
			return true
		}
		room -= len(known.Text)
	}
	return len(f.Text) > room
}

// Sources tells where instruction files come from. nil functions read none.
type Sources struct {
	Read      func(context.Context) (instructions.Set, error)
	ReadBelow func(ctx context.Context, dirs []string) (instructions.Set, error) // of folders below Workspace
	Workspace string
	Redact    *redact.Redactor
}

// Instructions tells the conversations of a tree what instruction files say: with where the model works,
// before the first prompt, read once and again after each compaction, because only then the beginning of a
// request may change; and in reminders, for folders in which the model begins to work. It is
// safe for concurrent use; use NewInstructions. Its lock is taken before those of the tree.
type Instructions struct {
	from   Sources
	tree   *Tree
	stream *stream.Stream
	once   sync.Once
	done   chan struct{}   // closed when they were read for the first time
	whole  context.Context // of the session
	work   *sync.WaitGroup

	mu       sync.Mutex // guards all below
	here     string     // the text before the files: where the model works
	set      instructions.Set
	stale    bool            // a compaction came since
	injected string          // the prompt injection in any of them
	said     map[string]bool // paths and reasons of files that are not whole, of which the person was told
}

// NewInstructions returns instructions of which nothing was read. The conversations of the tree are told here, where
// their models work, with the instructions behind it. What is read in the background ends with ctx and is
// counted by work.
func NewInstructions(ctx context.Context, work *sync.WaitGroup, s *stream.Stream, t *Tree, here string, from Sources) *Instructions {
	i := &Instructions{whole: ctx, work: work, from: from, tree: t, stream: s, here: here, done: make(chan struct{})}
	i.tell()
	return i
}

// Replay feeds a stored event of an earlier process.
func (i *Instructions) Replay(e event.Event) {
	if p, ok := e.(event.InstructionsRead); ok {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.injected = cmp.Or(p.Injection, i.injected)
	}
}

// ReadEarly begins to read the files, once, while the person still types.
func (i *Instructions) ReadEarly() {
	if i.from.Read == nil {
		return
	}
	i.once.Do(func() {
		i.work.Go(func() {
			defer close(i.done)
			i.read(i.whole)
		})
	})
}

// Await waits until the next request has the instructions, or ctx ends.
func (i *Instructions) Await(ctx context.Context) {
	if i.from.Read == nil {
		return
	}
	i.ReadEarly()
	select {
	case <-i.done:
	case <-ctx.Done():
		return
	}
	i.mu.Lock()
	stale := i.stale
	i.stale = false
	i.mu.Unlock()
	if stale {
		i.read(ctx)
	}
}

// Stale lets the files be read again before the next request.
func (i *Instructions) Stale() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stale = true
}

// tell tells every conversation where its model works, and what the files say. The caller holds i.mu, unless nobody else
// knows i.
func (i *Instructions) tell() {
	if text := strings.TrimSpace(i.here + "\n\n" + i.from.Redact.Text(i.set.Text())); text != "" {
		i.tree.SetHere(reminder.Wrap(text))
	}
}

// read reads the files and tells them to every conversation.
func (i *Instructions) read(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, instructionTime)
	defer cancel()
	set, err := i.from.Read(ctx)
	if err != nil && i.whole.Err() == nil {
		i.stream.Publish(0, 0, event.Warning{Text: "instruction files were not read: " + err.Error(), Code: "instructions", NextStep: "/compact or a new session tries again"})
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	before := i.set.Text()
	if err != nil && before != "" {
		return // what is known is better than nothing
	}
	i.set, i.injected = set, set.Injection()
	if i.from.Redact.Text(set.Text()) == i.from.Redact.Text(before) && len(set.Files) == 0 {
		return
	}
	i.tell()
	i.stream.Publish(0, 0, readFiles(set))
	i.warn(0, set)
}

// warn tells the person of a prompt injection in files, and of those that the model has not or not whole, once.
func (i *Instructions) warn(task int, set instructions.Set) {
	if why := set.Injection(); why != "" {
		i.stream.Publish(task, 0, event.Warning{Text: why, Code: "instructions", NextStep: "look at the file; as long as it counts, more needs your approval ([context] instructions = false leaves such files out)"})
	}
	for _, f := range set.Files {
		if f.Why == "" || f.Minor || i.said[f.Path+f.Why] {
			continue
		}
		if i.said == nil {
			i.said = make(map[string]bool)
		}
		i.said[f.Path+f.Why] = true
		why := ": left out: " + f.Why
		if f.Text != "" {
			why = ": cut: the model gets only " + f.Why
		}
		i.stream.Publish(task, 0, event.Warning{Text: "instruction file " + f.Path + why, Code: "instructions"})
	}
}

func readFiles(set instructions.Set) event.InstructionsRead {
	e := event.InstructionsRead{Injection: set.Injection()}
	for _, f := range set.Files {
		e.Files = append(e.Files, event.InstructionFile{Path: f.Path, From: string(f.From), Bytes: f.Bytes, Sent: len(f.Text), Why: f.Why})
	}
	return e
}

// Below tells a conversation the instruction files of the folders below the workspace in
// which its model has just begun to work, by the files that it used, and the rules that are for
// these files: each once, until a compaction. What another conversation was told does not count:
// its model is not this one's.
func (i *Instructions) Below(ctx context.Context, c *Conversation, task, turn int, files []string) {
	if i.from.ReadBelow == nil || len(files) == 0 || c.off != nil && c.off(reminder.Instructions) {
		return
	}
	i.tellFor(ctx, c, task, turn, files, files)
}

// Again tells a conversation after a compaction, before its next request, what was in force for the files that it has
// worked on: else its next call would not heed it. target is where the instruction files are.
func (i *Instructions) Again(ctx context.Context, c *Conversation, task, turn int, target string) {
	if i.from.ReadBelow == nil || c.off != nil && c.off(reminder.Instructions) {
		return
	}
	if files := lost(c, target); len(files) > 0 {
		i.tellFor(ctx, c, task, turn, files, nil)
	}
}

// lost returns the files of target for which a compaction has taken out what a conversation was told, once.
func lost(c *Conversation, target string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := &c.known.below
	if !b.lost {
		return nil
	}
	files := b.used
	for _, f := range c.known.work.Files {
		if (f.Target == "" || f.Target == target) && !slices.Contains(files, f.Path) {
			files = append(files, f.Path)
		}
	}
	b.used, b.lost = nil, false
	return files
}

// tellFor tells a conversation what is for some files. The model has those in hand before its eyes.
func (i *Instructions) tellFor(ctx context.Context, c *Conversation, task, turn int, files, inHand []string) {
	set := i.readBelow(ctx, c, files)
	i.mu.Lock()
	defer i.mu.Unlock()
	told := i.untold(c, set, files, inHand)
	text := i.from.Redact.Text(told.Reminder())
	if text == "" {
		return
	}
	i.injected = cmp.Or(i.injected, told.Injection())
	i.stream.Publish(task, turn, readFiles(told))
	c.Attach(task, turn, event.ReminderAttached{Kinds: []string{reminder.Instructions}, Text: text})
	i.warn(task, told)
}

// untold returns what a conversation has to be told of what was read, and of the rules for files,
// and notes that it is. The caller holds i.mu.
func (i *Instructions) untold(c *Conversation, read instructions.Set, files, inHand []string) instructions.Set {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := &c.known.below
	b.set.Rules = append(b.set.Rules, read.Rules...)
	read.Files = append(read.Files, instructions.Set{Rules: slices.Concat(i.set.Rules, b.set.Rules)}.For(files)...)
	read.Files = slices.DeleteFunc(read.Files, func(f instructions.File) bool {
		inPrompt := slices.ContainsFunc(i.set.Files, func(known instructions.File) bool { return known.Path == f.Path })
		return slices.Contains(inHand, f.Path) || inPrompt || b.knows(f)
	})
	read = read.Fit()
	if len(read.Files) > 0 {
		b.used = append(b.used, files...)
		b.used = b.used[max(0, len(b.used)-maxFolders):]
	}
	b.set.Files = append(b.set.Files, read.Files...)
	return read
}

// readBelow reads the instruction files of folders in which was not looked yet for a conversation.
func (i *Instructions) readBelow(ctx context.Context, c *Conversation, files []string) instructions.Set {
	dirs := newFolders(c, i.from.Workspace, files)
	if len(dirs) == 0 {
		return instructions.Set{}
	}
	ctx, cancel := context.WithTimeout(ctx, instructionTime)
	defer cancel()
	set, err := i.from.ReadBelow(ctx, dirs) // one that is missing is told the next time
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, dir := range dirs {
			delete(c.known.below.dirs, dir)
		}
	}
	return set
}

// newFolders returns the folders of files in which was not looked yet for a conversation, and notes
// them.
func newFolders(c *Conversation, workspace string, files []string) (dirs []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := &c.known.below
	for _, file := range files {
		for _, dir := range instructions.Below(workspace, file) {
			if b.dirs[dir] || len(b.dirs) == maxFolders {
				continue
			}
			if b.dirs == nil {
				b.dirs = make(map[string]bool)
			}
			b.dirs[dir] = true
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// Injected returns the prompt injection in a file that counts, or "".
func (i *Instructions) Injected() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.injected
}

// Sizes returns how many characters the files have before the first prompt, and which ones those are.
func (i *Instructions) Sizes() (chars int, files []event.InstructionFile) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.from.Redact.Text(i.set.Text())), readFiles(i.set).Files
}

// toldBelow returns what a conversation was told of the folders in which it works.
func toldBelow(c *Conversation) instructions.Set {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known.below.clone().set
}

// Files returns the files that the main conversation was told, and those that were left out for a reason.
func (i *Instructions) Files() []event.InstructionFile {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.DeleteFunc(append(readFiles(i.set).Files, readFiles(toldBelow(i.tree.Main())).Files...), func(f event.InstructionFile) bool { return f.Bytes == 0 && f.Why == "" })
}
