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

// Own says what is buddy's own on this machine. Paths are absolute and stand here under every name: real
// paths among them.
type Own struct {
	// Files are the files and folders with all below them: the folder of the settings, that of buddy's state,
	// and files with keys elsewhere.
	Files []string
	// Credentials are those among them that no tool reads, in whichever mode and whatever a rule says.
	Credentials []string
	// Given are those that the model was told of, which may be read and handed to programs: outputs and the plan of
	// its session, the memory of the project, skills.
	Given []string
	// Program reports whether a word of a command in dir ("" is unknown) is this program, under whatever name.
	// nil recognizes its name only.
	Program func(word, dir string) bool
}

// ownKeys knows buddy's own files as a command in a folder sees them.
type ownKeys struct {
	Own
	home    string                   // "" is unknown
	cwd     string                   // "" is unknown
	resolve func(path string) string // as [Policy.Resolve]
}

// keysOf returns what is buddy's own for what runs in cwd.
func keysOf(p Policy, cwd string) ownKeys {
	return ownKeys{p.Own, p.Home, cmp.Or(cwd, p.Workspace), p.Resolve}
}

// given returns the part of path below what the model was told of, and whether there is one.
func (o Own) given(path string) (rest string, ok bool) {
	for _, g := range o.Given {
		if texts.Below(path, g) {
			return strings.TrimPrefix(filepath.Clean(path), g), true
		}
	}
	return path, false
}

// secret returns the part of a path that suggests secrets, or "".
func (k ownKeys) secret(path string) string {
	rest, given := k.given(path)
	if own := k.file(path); own != "" && !given {
		return own
	}
	return Secret(rest)
}

// secretIn calls secret, or SecretPattern with glob, as package shell expects it.
func (k ownKeys) secretIn(path string, glob bool) string {
	if glob {
		rest, _ := k.given(path)
		return SecretPattern(rest)
	}
	return k.secret(path)
}

// file returns the name of the file of buddy's own that a path is, or is below, or "".
func (k ownKeys) file(path string) string {
	if !filepath.IsAbs(path) {
		return ""
	}
	path = filepath.Clean(path)
	for _, o := range k.Files {
		if texts.Below(path, o) || strings.EqualFold(path, o) {
			return ownName(path)
		}
	}
	return ""
}

// ownName returns what people call a file of buddy's own.
func ownName(path string) string {
	if name := filepath.Base(path); name != "buddy" {
		return "buddy's own " + name
	}
	return "buddy's own folder " + path
}

// below returns which file of buddy's own is in a folder, at any depth, or "".
func (k ownKeys) below(dir string) string {
	i := slices.IndexFunc(k.Files, func(o string) bool { return texts.Below(o, dir) })
	if i < 0 {
		return ""
	}
	return ownName(k.Files[i])
}

// touched returns which file of buddy's own a command names or, with a program that works on whole
// folders, includes; "" for none. What a program computes is not seen.
func (k ownKeys) touched(command string, report shell.Report) string {
	text := command
	code := slices.ContainsFunc(report.Commands, func(c shell.Command) bool { return len(codeIn(command, c)) > 0 })
	if !code && !strings.Contains(text, "..") { // else it may change one of these, or its name leads out of it
		for _, g := range k.Given {
			text = strings.ReplaceAll(text, k.tail(g), "")
		}
	}
	for _, o := range k.Files {
		if strings.Contains(text, k.tail(o)) {
			return ownName(o)
		}
	}
	dirs := append([]string{k.cwd}, slices.DeleteFunc(slices.Clone(report.Folders), func(dir string) bool { return dir == "" })...)
	for _, c := range append(slices.Clone(report.Commands), shell.Command{Argv: report.Files, ReadOnly: report.ReadOnly}) {
		for _, dir := range dirs {
			if own := k.includes(c, dir); own != "" {
				return own
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

// tail returns the part of a path below the home, which may follow ~/, $HOME/ and anything else; the whole path
// elsewhere.
func (k ownKeys) tail(path string) string {
	if rel, err := filepath.Rel(k.home, path); k.home != "" && err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// includes returns which file of buddy's own a command in dir names or includes, or "".
func (k ownKeys) includes(c shell.Command, dir string) string {
	for i, w := range c.Argv {
		for _, text := range pathsIn(w.Text) {
			path := k.absolute(shell.Arg{Text: text, Pattern: w.Pattern}, dir)
			_, given := k.given(path)
			if own := k.file(path); own != "" && (!given || !uses(c)) {
				return own
			}
		}
		path := k.absolute(w, dir)
		if own := k.below(path); own != "" && i > 0 && (readsFolders(c, w) || !c.ReadOnly && k.apart(path)) {
			return own
		}
	}
	if len(c.Argv) > 0 && searchesHere(c) {
		return k.below(dir)
	}
	return ""
}

// uses reports whether a command may be given files by name without a sign that it changes them.
func uses(c shell.Command) bool {
	return c.ReadOnly || c.Effect == shell.RunsCode || c.Effect == shell.Unknown
}

// apart reports whether a folder contains neither the home nor the folder of the command: what
// changes something there may mean all in it.
func (k ownKeys) apart(dir string) bool {
	return !texts.Below(k.home, dir) && !texts.Below(k.cwd, dir)
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

// guardOwn requires approval for what touches buddy's own files although a mode or a rule allows it.
// No rule allows to change them; to read one, a rule that names it. Credentials are read by no tool.
func guardOwn(p Policy, a action.Action, report shell.Report, mode action.Mode, v action.Verdict) action.Verdict {
	if len(p.Own.Files) == 0 || a.Kind == action.Internal || a.Kind == action.PlanFile {
		return v
	}
	keys := keysOf(p, a.Cwd)
	credential := func(path string) bool { return texts.Below(a.Path, path) }
	if a.Kind == action.FileRead && slices.ContainsFunc(p.Own.Credentials, credential) {
		return action.Verdict{Decision: action.Deny, Reason: ownName(a.Path) + " holds keys: no tool may read it", Rule: action.OwnKeys}
	}
	if v.Decision != action.Allow || v.Rule == InFence { // the fence has none of these files
		return v
	}
	touched, writes := keys.touches(p, a, report)
	if touched == "" || !writes && namedByRule(p, keys, a, report) {
		return v
	}
	v = action.Verdict{Decision: action.Ask, Reason: touched + " holds or protects keys: only a rule that names the file can allow this", Rule: action.OwnKeys}
	if writes {
		v.Reason = touched + " decides what may run: changes need approval in every mode, and no rule can allow them"
	}
	if mode == action.ModeNone {
		v.Decision = action.Deny
	}
	return v
}

// touches returns which file of buddy's own an action reads or changes, "" for none, and whether it may change
// it.
func (k ownKeys) touches(p Policy, a action.Action, report shell.Report) (own string, writes bool) {
	switch {
	case isCommand(a.Kind):
		if own = k.touched(a.Command, report); own != "" {
			return own, !onlyReads(p, a, shell.Analyse(a.Command, shell.Env{Cwd: k.cwd, Home: k.home, Resolve: k.resolve, Match: p.Match}))
		}
		if onlyReads(p, a, report) {
			return "", false
		}
		return cmp.Or(k.calls(a.Command, report), k.leads(a.Command, report)), true
	case a.Kind == action.MCP:
		return k.named(a.Preview), true
	case a.Kind == action.FileRead:
		if _, given := k.given(a.Path); given {
			return "", false
		}
		return k.file(a.Path), false
	}
	return k.file(a.Path), true
}

// onlyReads reports whether a command changes nothing where it will run: in the read-only sandbox, or by words that are written
// out.
func onlyReads(p Policy, a action.Action, report shell.Report) bool {
	return report.ReadOnly && (report.Beyond == "" || p.Confined && !a.Outside && a.Kind != action.PaneKeys)
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
