package target

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"buddy/agent/action"
	"buddy/tools/file"
)

// Limits of what is told of changed files at once.
const (
	maxChanges    = 256     // that are remembered
	maxChangeText = 3 << 10 // bytes
)

// changeLog remembers what commands and other programs changed in the files that models have read, so that
// each conversation is told of it whenever its next request comes.
type changeLog struct {
	mu   sync.Mutex // guards all below; held while the files are looked at
	last int64      // number of the newest change, also of one that is forgotten
	all  []fileChange
}

// fileChange is a change, with the number by which conversations know how far they were told.
type fileChange struct {
	number int64
	text   string
	seen   action.SeenFile
}

// ToldNothing means that a conversation was told of no change.
const ToldNothing = "0"

// ChangedFiles looks at the files that models have read or written, on all targets, and returns what
// commands and other programs changed in them since a conversation was told last, as text for its model; "" for
// nothing. known is how far it was told, as the last call returned it; "" is a conversation that
// begins now and has read nothing. What is too long for once comes with the next call. seen is what the model knows of
// the files once it was told.
func (s *Set) ChangedFiles(ctx context.Context, known string) (text, told string, seen []action.SeenFile) {
	log := &s.changes
	log.mu.Lock()
	defer log.mu.Unlock()
	for _, one := range s.Sessions() {
		on := ""
		if one != s.first {
			on = " on " + one.Name
		}
		for _, c := range one.Files.Changed(ctx) {
			log.add(changeText(c, on), c.Seen)
		}
	}
	from, err := strconv.ParseInt(known, 10, 64)
	if err != nil {
		return "", strconv.FormatInt(log.last, 10), nil
	}
	return log.since(from)
}

// add remembers a change. Numbers grow over the processes of a session, too: they are times.
func (l *changeLog) add(text string, seen action.SeenFile) {
	l.last = max(l.last+1, time.Now().UnixNano())
	l.all = append(l.all, fileChange{l.last, text, seen})
	l.all = l.all[max(0, len(l.all)-maxChanges):]
}

// since returns what was changed after a number, as much as fits, the number of the last change in it, and the files.
func (l *changeLog) since(from int64) (text, told string, seen []action.SeenFile) {
	const head = "Files changed since you read or wrote them, by a command of yours or by somebody else. A diff shows the whole change.\n"
	var b strings.Builder
	for _, c := range l.all {
		switch {
		case c.number <= from:
			continue
		case b.Len() == 0:
			b.WriteString(head)
		case b.Len()+len(c.text) > maxChangeText:
			return strings.TrimSpace(b.String()), strconv.FormatInt(from, 10), seen
		}
		b.WriteString(c.text)
		from, seen = c.number, append(seen, c.seen)
	}
	return strings.TrimSpace(b.String()), strconv.FormatInt(max(from, l.last), 10), seen
}

// changeText says how a file was changed.
func changeText(c file.Change, on string) string {
	const longest = 500 // bytes of a path
	name := strconv.Quote(c.Path)
	if len(name) > longest {
		name = "…" + strings.ToValidUTF8(name[len(name)-longest:], "")
	}
	switch {
	case c.Gone:
		return "- " + name + on + " is gone.\n"
	case c.Diff == "":
		return "- " + name + on + " changed: read it again before you rely on it.\n"
	}
	return "- " + name + on + " changed:\n" + strings.TrimRight(c.Diff, "\n") + "\n"
}
