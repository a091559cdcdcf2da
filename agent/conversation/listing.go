package conversation

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/agent/reminder"
)

// Listing lists things of one kind that a model can choose from, such as skills. The model gets it in a reminder and
// not in the system prompt, so that only the changed lines must be sent when it changes.
type Listing struct {
	Kind  string // kind of the reminder
	Head  string // explains the lines and how to use one
	Items []ListingItem
}

// ListingItem is one line of a listing.
type ListingItem struct{ Name, Line string }

// knownListing holds the version of a listing that a model has.
type knownListing struct {
	digest string
	lines  map[string]string // by name; nil when only the digest is known, after a restart
}

func (l Listing) digest() string {
	sum := sha256.New()
	for _, i := range l.Items {
		_, _ = sum.Write([]byte(i.Name + "\x00" + i.Line + "\x00")) // never fails
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// AttachList adds a listing, unless the model has this version of it: the whole list at first and after a compaction,
// later only the changes. An empty list is added only to replace a version that the model has.
func (c *Conversation) AttachList(task int, l Listing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, knows := c.known.listed[l.Kind]
	now := l.digest()
	if knows && before.digest == now || !knows && len(l.Items) == 0 {
		return
	}
	lines := make(map[string]string, len(l.Items))
	for _, i := range l.Items {
		lines[i.Name] = i.Line
	}
	c.known.list(l.Kind, knownListing{now, lines})
	text := l.whole(knows)
	if knows && before.lines != nil {
		text = l.difference(before.lines)
	}
	c.attach(task, 0, event.ReminderAttached{Kinds: []string{l.Kind}, Text: reminder.Wrap(text), Digest: now})
}

// whole returns the text of the whole listing. replaces means that the text must say that it replaces an earlier
// version.
func (l Listing) whole(replaces bool) string {
	var b strings.Builder
	if replaces {
		b.WriteString("This replaces the list of " + l.Kind + " that you were given before.\n")
	}
	if len(l.Items) == 0 {
		b.WriteString("There are none.")
		return b.String()
	}
	b.WriteString(l.Head)
	for _, i := range l.Items {
		b.WriteString("\n" + i.Line)
	}
	return b.String()
}

// difference returns a text about the changes since the model got the lines in before.
func (l Listing) difference(before map[string]string) string {
	gone := maps.Clone(before)
	text := "The list of " + l.Kind + " has changed."
	for _, i := range l.Items {
		if before[i.Name] != i.Line {
			text += "\n" + i.Line
		}
		delete(gone, i.Name)
	}
	if len(gone) > 0 {
		text += "\nNo longer there: " + strings.Join(slices.Sorted(maps.Keys(gone)), ", ")
	}
	return text
}

// LoadSkill records that the model has got the text of a skill. If the user called the skill, e holds the text; if the
// model called it, the text is the result of that call.
func (c *Conversation) LoadSkill(task, turn int, e event.SkillLoaded) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recall.Take(event.Envelope{Payload: e})
	c.known.load(e)
	c.stream.Publish(task, turn, e)
}

// LoadedSkills returns the loaded skills, newest last.
func (c *Conversation) LoadedSkills() []LoadedSkill {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.known.loaded)
}

// TakeCalls returns, once, the prompts that start with a slash and may call a skill.
func (c *Conversation) TakeCalls() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	calls := c.known.calls
	c.known.calls = nil
	return calls
}

// TakeNaming returns, once, the prompts that may name resources.
func TakeNaming(c *Conversation) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	naming := c.known.naming
	c.known.naming = nil
	return naming
}
