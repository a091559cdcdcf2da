package skill

import (
	"cmp"
	"slices"
	"strings"

	"buddy/texts"
)

// Sizes of a listing, in bytes.
const (
	maxDescription = 1536
	unknownWindow  = 128_000 // tokens, for a model with an unknown window
	perToken       = 4       // bytes, estimated
	share          = 100     // the window is divided by this; the listing gets one part
)

// Head introduces a listing and explains how to load a skill.
const Head = `These skills hold instructions for kinds of work. When one fits what is asked, load it before you begin: use_tool {"name":"skill","args":{"name":"NAME","args":"WHAT IT IS FOR"}}. ` +
	`A project's skill ranks like the project's instructions; no skill overrides a rule.`

// Line is a skill in a listing: its name and one line of text.
type Line struct{ Name, Text string }

// Lines returns the listed skills, which take at most a hundredth of a context window. window is its size in tokens; 0
// means unknown. Lines keeps all names and shortens the descriptions of the least used skills first. used counts uses
// by name.
func Lines(all []Skill, window int, used map[string]int) []Line {
	var lines []Line
	room := cmp.Or(window, unknownWindow)*perToken/share - len(Head)
	for _, s := range all {
		if !s.Listed || s.Asleep {
			continue
		}
		text := s.Description
		if s.When != "" {
			text = strings.TrimPrefix(text+" — "+s.When, " — ")
		}
		lines = append(lines, Line{s.Name, shortened(text, maxDescription)})
		room -= len("- : \n") + len(s.Name)
	}
	shrink(lines, room, used)
	slices.SortFunc(lines, func(a, b Line) int { return cmp.Compare(a.Name, b.Name) })
	return lines
}

// shrink shortens the texts of lines to a total number of bytes, the least used ones first.
func shrink(lines []Line, room int, used map[string]int) {
	var counts []int
	for _, l := range lines {
		room -= len(l.Text)
		counts = append(counts, used[l.Name])
	}
	slices.Sort(counts)
	for _, n := range slices.Compact(counts) {
		if room >= 0 {
			return
		}
		room = shrinkTo(lines, room, func(name string) bool { return used[name] == n })
	}
}

// shrinkTo shortens the texts of the lines that which selects to one length, so that room is no longer negative, or to
// nothing. It returns the new room.
func shrinkTo(lines []Line, room int, which func(name string) bool) int {
	total := func(limit int) (n int) {
		for _, l := range lines {
			if which(l.Name) {
				n += min(len(l.Text), limit)
			}
		}
		return n
	}
	want := total(maxDescription) + room
	low, high := 0, maxDescription // total(low) fits, or low is 0
	for low < high {
		if mid := (low + high + 1) / 2; total(mid) <= want {
			low = mid
		} else {
			high = mid - 1
		}
	}
	for i := range lines {
		if l := &lines[i]; which(l.Name) && len(l.Text) > low {
			room += len(l.Text)
			l.Text = shortened(l.Text, low)
			room -= len(l.Text)
		}
	}
	return room
}

// shortened cuts a text to at most n bytes with a mark, or to nothing if little would remain.
func shortened(s string, n int) string {
	switch {
	case len(s) <= n:
		return s
	case n < 20:
		return ""
	}
	return texts.ClipBytes(s, n-len("…"))
}

// String formats the line.
func (l Line) String() string {
	if l.Text == "" {
		return "- " + l.Name
	}
	return "- " + l.Name + ": " + l.Text
}
