package file

import (
	"fmt"
	"os"
	"strings"

	"buddy/texts"
)

// reason says why a search passes a file, a folder or a link by.
type reason int

const (
	leftIgnored reason = iota
	leftLinked
	leftSecret
	leftUnreadable
	leftBinary
	leftLarge
	reasons // their number
)

var reasonNames = [reasons]string{"ignored by git", "linked", "with possible secrets", "unreadable", "binary", "over 10 MB"}

// maxNamed limits the names that are given for each reason, and maxName their bytes.
const (
	maxNamed = 3
	maxName  = 80
)

// leftOut counts what a search passes by. A folder counts once, whatever is in it.
type leftOut struct {
	count [reasons]int
	names [reasons][]string // the first ones
}

// add counts one; rel is its path, "" to give no name.
func (l *leftOut) add(why reason, rel string) {
	l.count[why]++
	if rel != "" && len(l.names[why]) < maxNamed {
		l.names[why] = append(l.names[why], quoteName(texts.ClipBytes(rel, maxName)))
	}
}

// ignored returns the function that counts what git ignores and p may be about. It keeps the file that p names.
func (l *leftOut) ignored(p *pattern) func(rel string, e os.DirEntry) bool {
	return func(rel string, e os.DirEntry) bool {
		switch {
		case e.IsDir() && (p == nil || p.mayHold(rel)):
			l.add(leftIgnored, rel+"/")
		case !e.IsDir() && p != nil && p.names(rel):
			return true
		case !e.IsDir() && (p == nil || p.match(rel)):
			l.add(leftIgnored, rel)
		}
		return false
	}
}

// note returns all of it in one line, "" for nothing. hint is the way to what has a name.
func (l *leftOut) note(hint string) string {
	var all []string
	named := false
	for why, n := range l.count {
		if n == 0 {
			continue
		}
		text := fmt.Sprintf("%d %s", n, reasonNames[why])
		if names := l.names[why]; len(names) > 0 {
			named = true
			if n > len(names) {
				names = append(names, "…")
			}
			text += " (" + strings.Join(names, ", ") + ")"
		}
		all = append(all, text)
	}
	switch {
	case len(all) == 0:
		return ""
	case named:
		return "left out: " + strings.Join(all, ", ") + "; " + hint
	}
	return "left out: " + strings.Join(all, ", ")
}
