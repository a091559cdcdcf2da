package file

import (
	"fmt"
	"os"
	"strings"

	"buddy/texts"
)

// reason tells why a search skips a file, a folder or a link.
type reason int

const (
	leftIgnored reason = iota
	leftLinked
	leftSecret
	leftUnreadable
	leftBinary
	leftLarge
	reasons // the number of reasons
)

var reasonNames = [reasons]string{"ignored by git", "linked", "with possible secrets", "unreadable", "binary", "over 10 MB"}

// Limits of the names that are listed for each reason, and of their bytes.
const (
	maxNamed = 3
	maxName  = 80
)

// leftOut counts what a search skips. A folder counts once, whatever it contains.
type leftOut struct {
	count [reasons]int
	names [reasons][]string // the first ones
}

// add counts one skipped entry. It also lists the entry's path rel, unless that is "".
func (l *leftOut) add(why reason, rel string) {
	l.count[why]++
	if rel != "" && len(l.names[why]) < maxNamed {
		l.names[why] = append(l.names[why], quoteName(texts.ClipBytes(rel, maxName)))
	}
}

// ignored returns a function that counts the files that git ignores and that p might match. The function returns true
// for the file that p names, which is searched anyway.
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

// note returns the counts in one line, "" for none. hint tells the model how to search the named files.
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
