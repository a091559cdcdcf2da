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

// Limits of one report of changed files.
const (
	maxChanges    = 256     // remembered changes
	maxChangeText = 3 << 10 // bytes
)

// changeLog stores the changes that commands and other programs made to files that models have read. Each conversation
// gets the changes with its next request.
type changeLog struct {
	mu   sync.Mutex // guards the fields below; held while the files are checked
	last int64      // number of the newest change, even if it is forgotten
	all  []fileChange
}

// fileChange is a change with its number. A conversation stores the number of the last change that its model has seen.
type fileChange struct {
	number int64
	text   string
	seen   action.SeenFile
}

// ToldNothing is the argument known of [Set.ChangedFiles] for a conversation that got no report yet.
const ToldNothing = "0"

// ChangedFiles checks the files that models have read or written, on all targets. It returns, as text for the model of
// a conversation, what commands and other programs have changed in them since the last report to that conversation; ""
// for nothing. known is what the last call for that conversation returned as reported, or "" for a new conversation
// that has read nothing. If a report is too long, the next call continues it. seen is what the model knows of files
// after reading the report.
func (s *Set) ChangedFiles(ctx context.Context, known string) (text, reported string, seen []action.SeenFile) {
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

// add stores a change. Its number is the time, so that numbers grow even if a later process continues the session.
func (l *changeLog) add(text string, seen action.SeenFile) {
	l.last = max(l.last+1, time.Now().UnixNano())
	l.all = append(l.all, fileChange{l.last, text, seen})
	l.all = l.all[max(0, len(l.all)-maxChanges):]
}

// since returns the changes with numbers above from, as many as fit, the number of the last of them, and their files.
func (l *changeLog) since(from int64) (text, reported string, seen []action.SeenFile) {
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

// changeText describes the change of a file.
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
