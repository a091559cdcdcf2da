package shell

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// shape is a row of the table of closed shapes: options with which a program runs no code, deletes nothing and changes
// only the named files.
type shape struct {
	spec
	first  *regexp.Regexp // pattern of a first operand that is not a file; nil: it is a file
	sample string         // an example of it
	option string         // an option for examples
	whole  bool           // the workspace itself may be an operand
}

// shapes is the table of closed shapes that write. It omits programs that read settings which can name programs
// (prettier, eslint), that download (go build), delete or overwrite other files (cp, mv, git stash), write to paths
// named in an archive (tar, unzip) or start another version of themselves that the folder's settings choose (rustfmt,
// cargo fmt).
var shapes = sync.OnceValue(func() map[string]*shape {
	m := make(map[string]*shape)
	for _, s := range []shape{
		{spec: spec{name: "mkdir", flags: "-pv --parents --verbose"}, option: "-p"},
		{spec: spec{name: "touch", flags: "-amc --no-create"}, option: "-c"},
		{spec: spec{name: "chmod", flags: "-vc --verbose --changes"}, first: regexp.MustCompile(`^(u?[+-][rx]{1,2}|u[+-][rwx]{1,3}|6[04][04]|7[05][05])$`), sample: "+x", option: "-v"},
		{spec: spec{name: "gofmt", flags: "-l -w -d -s -e"}, option: "-w", whole: true},
		{spec: spec{name: "gofumpt", flags: "-l -w -d -e !extra"}, option: "-w", whole: true},
		{spec: spec{name: "shfmt", flags: "-w -l -d -s -i: !ci !bn !sr"}, option: "-w", whole: true},
		{spec: spec{name: "clang-format", flags: "-i --verbose"}, option: "-i"},
		{spec: spec{name: "black", flags: "-q -v --quiet --verbose --check --diff"}, option: "-q", whole: true},
		{spec: spec{name: "dos2unix", flags: "-q -v"}, option: "-q"},
		{spec: spec{name: "unix2dos", flags: "-q -v"}, option: "-q"},
	} {
		s.compile()
		m[s.name] = &s
	}
	return m
})

// readers lists programs that, like those of the literal core, have a closed shape whenever they only read: they read
// no settings from the folder.
var readers = strings.Fields("kubectl gh loginctl hostnamectl timedatectl systemd-analyze launchctl snap flatpak nvidia-smi rev tac nl column fold paste comm join tree file strings sha1sum sha512sum cksum b2sum lsblk lscpu lsmod lsof pgrep netstat ip sysctl getent dpkg rpm pacman apt-cache")

// Shape describes a group of harmless commands, a closed shape. A rule that allows one of them covers the others.
type Shape struct {
	Prefix []string // the words that name the operation
	Files  []string // written files, as spelled in the command
	Reads  bool     // it only reads; the analysis has judged the files
	Whole  bool     // the workspace itself may be one of the files
	// Option and Sample are used in examples: an option of the shape, and an operand that precedes the files. Both may
	// be "".
	Option, Sample string
}

// Shape returns the closed shape of a command. ok is false if the command may run code, delete files, or change more
// than the named files.
func (c Command) Shape() (closed Shape, ok bool) {
	if words := strings.Fields(c.spec); c.ReadOnly && closedReading(words) && len(words) <= len(c.Argv) {
		return Shape{Prefix: words, Reads: true}, true
	}
	s := shapes()[c.Name()]
	if s == nil || slices.ContainsFunc(c.Argv, func(w Arg) bool { return w.Dynamic || w.Pattern || w.Odd }) {
		return Shape{}, false
	}
	call, why := s.sort(arguments(c))
	if why != "" || call.afterDashes() != "" {
		return Shape{}, false
	}
	closed = Shape{Prefix: []string{s.name}, Option: s.option, Sample: s.sample, Whole: s.whole}
	for _, w := range call.rest {
		closed.Files = append(closed.Files, w.vals[0].text)
	}
	if s.first != nil {
		if len(closed.Files) == 0 || !s.first.MatchString(closed.Files[0]) {
			return Shape{}, false
		}
		closed.Files = closed.Files[1:]
	}
	return closed, len(closed.Files) > 0
}

// closedReading reports whether the read-only commands to which words belong all have a closed shape.
func closedReading(words []string) bool {
	if len(words) == 0 || words[0] == "cd" || words[0] == "echo" {
		return false
	}
	return coreTools()[words[0]] != nil || coreTools()[strings.Join(words, " ")] != nil || slices.Contains(readers, words[0])
}
