package policy

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/policy/shell"
	"buddy/texts"
)

// Programs that read or change whole folders: always, with a flag that has one of the letters,
// or all files that a pattern names.
var (
	folderReaders = []string{
		"tar", "bsdtar", "zip", "7z", "7za", "rsync", "sftp", "cpio", "pax", "mv", "ln", "zgrep", "rg", "ag", "ack", "find", "fd", "fdfind", "rclone", "restic", "borg", "docker", "podman",
	}
	flaggedReaders = map[string]string{
		"cp": "rRa", "scp": "r", "grep": "rR", "egrep": "rR", "fgrep": "rR", "diff": "r", "rm": "rR", "chmod": "R", "chown": "R",
	}
)

// readsFolders reports whether a command may read or change everything in a folder that is one
// of its words; word is that one.
func readsFolders(c shell.Command, word shell.Arg) bool {
	if word.Pattern || slices.Contains(folderReaders, filepath.Base(c.Name())) {
		return true
	}
	letters := flaggedReaders[filepath.Base(c.Name())]
	return letters != "" && slices.ContainsFunc(c.Argv[1:], func(w shell.Arg) bool {
		return strings.HasPrefix(w.Text, "--rec") || strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(w.Text, "--") && strings.ContainsAny(w.Text, letters)
	})
}

// searchesHere reports whether a command searches its current folder.
func searchesHere(c shell.Command) bool {
	words := 0
	for _, w := range c.Argv[1:] {
		if !strings.HasPrefix(w.Text, "-") {
			words++
		}
	}
	return words < 2 && slices.Contains([]string{"rg", "ag", "ack", "grep", "egrep", "fgrep", "find", "fd", "fdfind"}, c.Name()) && readsFolders(c, shell.Arg{})
}

// ownKeys knows the files and folders that buddy keeps its keys in, as a command in a folder sees
// them.
type ownKeys struct {
	files   []string                 // as [Policy.Own]
	home    string                   // "" is unknown
	cwd     string                   // "" is unknown
	resolve func(path string) string // as [Policy.Resolve]
}

// keysOf returns the keys that p protects from what runs in cwd.
func keysOf(p Policy, cwd string) ownKeys {
	return ownKeys{p.Own, p.Home, cmp.Or(cwd, p.Workspace), p.Resolve}
}

// secret returns the part of a path that suggests secrets, or "".
func (k ownKeys) secret(path string) string {
	if own := k.file(path); own != "" {
		return own
	}
	return Secret(path)
}

// secretIn calls secret, or SecretPattern with glob, as package shell expects it.
func (k ownKeys) secretIn(path string, glob bool) string {
	if glob {
		return SecretPattern(path)
	}
	return k.secret(path)
}

// file returns the name of the file of buddy's own that a path is, or is below, or "".
func (k ownKeys) file(path string) string {
	if !filepath.IsAbs(path) {
		return ""
	}
	path = filepath.Clean(path)
	for _, o := range k.files {
		if texts.Below(path, o) || strings.EqualFold(path, o) {
			return "buddy's own " + filepath.Base(o)
		}
	}
	return ""
}

// below returns which file of buddy's own is in a folder, at any depth, or "".
func (k ownKeys) below(dir string) string {
	i := slices.IndexFunc(k.files, func(o string) bool { return texts.Below(o, dir) })
	if i < 0 {
		return ""
	}
	return "buddy's own " + filepath.Base(k.files[i])
}

// touched returns which file of buddy's own a command names or, with a program that reads whole
// folders, includes; "" for none. What a program computes is not seen.
func (k ownKeys) touched(command string, report shell.Report) string {
	for _, o := range k.files {
		// Below the home it may follow ~/, $HOME/ and anything else.
		rel, err := filepath.Rel(k.home, o)
		known := k.home != "" && err == nil && filepath.IsLocal(rel)
		if strings.Contains(command, o) || known && strings.Contains(command, rel) {
			return "buddy's own " + filepath.Base(o)
		}
	}
	cwds := []string{k.cwd}
	for _, c := range report.Commands {
		for _, dir := range cwds {
			if own := k.includes(c, dir); own != "" {
				return own
			}
			if c.Name() == "cd" && len(c.Argv) > 1 && len(cwds) < 8 {
				cwds = append(cwds, k.absolute(c.Argv[len(c.Argv)-1], dir))
			}
		}
	}
	return ""
}

// named returns which file of buddy's own, or of a folder below the home with one, the arguments of
// another program name, or "". Of a text it sees whole quoted paths; what that program makes of its
// arguments is not seen.
func (k ownKeys) named(arguments string) string {
	for quoted := range strings.SplitSeq(arguments, `"`) {
		path := strings.TrimPrefix(quoted, "file://")
		if !strings.ContainsRune(path, '/') || len(path) > maxPath {
			continue
		}
		path = k.absolute(shell.Arg{Text: path}, k.cwd)
		if own := k.file(path); own != "" {
			return own
		}
		if own := k.below(path); own != "" && !texts.Below(k.home, path) {
			return own
		}
	}
	return ""
}

// maxPath is longer than any path that a system takes, in bytes.
const maxPath = 4096

// includes returns which file of buddy's own a command in dir names or includes, or "".
func (k ownKeys) includes(c shell.Command, dir string) string {
	for i, w := range c.Argv {
		path := k.absolute(w, dir)
		if own := k.file(path); own != "" {
			return own
		}
		if own := k.below(path); own != "" && i > 0 && readsFolders(c, w) {
			return own
		}
	}
	if len(c.Argv) > 0 && searchesHere(c) {
		return k.below(dir)
	}
	return ""
}

// absolute returns the path that a word of a command means in dir, up to a part that is a
// pattern.
func (k ownKeys) absolute(arg shell.Arg, dir string) string {
	word := arg.Text
	if rest, ok := strings.CutPrefix(word, "~"); ok && (rest == "" || rest[0] == '/') && k.home != "" {
		word = k.home + rest
	}
	if i := strings.IndexAny(word, "*?["); i >= 0 && arg.Pattern {
		word = word[:strings.LastIndexByte(word[:i], '/')+1]
	}
	if !filepath.IsAbs(word) {
		word = filepath.Join(dir, word)
	}
	if k.resolve != nil && dir != "" {
		word = cmp.Or(k.resolve(word), word)
	}
	return filepath.Clean(word)
}

// guardOwn requires approval for what touches buddy's own keys although a mode or a rule allows
// it.
func guardOwn(p Policy, a action.Action, report shell.Report, mode action.Mode, v action.Verdict) action.Verdict {
	if v.Decision != action.Allow || len(p.Own) == 0 || a.Kind == action.Internal || a.Kind == action.PlanFile {
		return v
	}
	keys := keysOf(p, a.Cwd)
	touched := keys.file(a.Path)
	switch {
	case isCommand(a.Kind):
		touched = keys.touched(a.Command, report)
	case a.Kind == action.MCP:
		touched = keys.named(a.Preview)
	}
	if touched == "" || namedByRule(p, keys, a, report) {
		return v
	}
	v = action.Verdict{Decision: action.Ask, Reason: touched + " holds or protects its keys: only a rule that names the file allows this", Rule: action.OwnKeys}
	if mode == action.ModeNone {
		v.Decision = action.Deny
	}
	return v
}

// namedByRule reports whether a rule of the user that allows a names a file of buddy's own.
func namedByRule(p Policy, keys ownKeys, a action.Action, report shell.Report) bool {
	return slices.ContainsFunc(p.Rules, func(r action.Rule) bool {
		if r.Decision != action.Allow || r.Source == action.FromProject {
			return false
		}
		if isCommand(a.Kind) {
			named := slices.ContainsFunc(r.Prefix, func(w string) bool { return keys.file(keys.absolute(shell.Arg{Text: w}, keys.cwd)) != "" })
			return named && slices.ContainsFunc(report.Commands, func(c shell.Command) bool { return p.covers(r, a, c) })
		}
		return r.Path != "" && !strings.ContainsAny(r.Path, "*?[{") && p.matches(r, a, report)
	})
}
