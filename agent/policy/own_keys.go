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

// Programs that read or change whole folders: those in folderReaders always, those in flaggedReaders with a short
// option that contains one of the letters, such as cp -r.
var (
	folderReaders = []string{
		"tar", "bsdtar", "zip", "7z", "7za", "rsync", "sftp", "cpio", "pax", "mv", "ln", "zgrep", "rg", "ag", "ack", "find", "fd", "fdfind", "rclone", "restic", "borg", "docker", "podman",
	}
	flaggedReaders = map[string]string{
		"cp": "rRa", "scp": "r", "grep": "rR", "egrep": "rR", "fgrep": "rR", "diff": "r", "rm": "rR", "chmod": "R", "chown": "R",
	}
)

// readsFolders reports whether a command may read or change everything in the folder named by word.
func readsFolders(c shell.Command, word shell.Arg) bool {
	if word.Pattern || slices.Contains(folderReaders, filepath.Base(c.Name())) {
		return true
	}
	letters := flaggedReaders[filepath.Base(c.Name())]
	return letters != "" && slices.ContainsFunc(c.Argv[1:], func(w shell.Arg) bool {
		return strings.HasPrefix(w.Text, "--rec") || strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(w.Text, "--") && strings.ContainsAny(w.Text, letters)
	})
}

func searchesHere(c shell.Command) bool {
	words := 0
	for _, w := range c.Argv[1:] {
		if !strings.HasPrefix(w.Text, "-") {
			words++
		}
	}
	return words < 2 && slices.Contains([]string{"rg", "ag", "ack", "grep", "egrep", "fgrep", "find", "fd", "fdfind"}, c.Name()) && readsFolders(c, shell.Arg{})
}

// Own lists buddy's own files on this machine. Paths are absolute, and a file is listed under each of its names,
// including its real path.
type Own struct {
	// Files lists the folders of the settings and of buddy's state, with everything below them, and key files
	// elsewhere.
	Files []string
	// Credentials lists the files that no tool may read, in any mode and despite any rule.
	Credentials []string
	// Given lists paths that buddy has given to the model. Tools may read these and pass them to programs: the
	// session's outputs and plan, the project's memory, skills.
	Given []string
	// Program reports whether a word of a command in dir ("" is unknown) is this program, even under another name. A
	// nil function recognizes only the usual name.
	Program func(word, dir string) bool
}

// ownKeys finds buddy's own files that a command in the folder cwd may read or change.
type ownKeys struct {
	Own
	home    string                   // "" is unknown
	cwd     string                   // "" is unknown
	resolve func(path string) string // as [Policy.Resolve]
}

func keysOf(p Policy, cwd string) ownKeys {
	return ownKeys{p.Own, p.Home, cmp.Or(cwd, p.Workspace), p.Resolve}
}

// given returns what follows one of the Given paths in a path. If the path is outside all of them, it returns the whole
// path and ok is false.
func (o Own) given(path string) (rest string, ok bool) {
	for _, g := range o.Given {
		if texts.Below(path, g) {
			return strings.TrimPrefix(filepath.Clean(path), g), true
		}
	}
	return path, false
}

// secret returns the part of a path that suggests that the file holds secrets, or "".
func (k ownKeys) secret(path string) string {
	rest, given := k.given(path)
	if own := k.file(path); own != "" && !given {
		return own
	}
	return Secret(rest)
}

// secretIn returns what [ownKeys.secret] returns or, for a glob, what SecretPattern returns. It has the signature of
// [shell.Env].Secret.
func (k ownKeys) secretIn(path string, glob bool) string {
	if glob {
		rest, _ := k.given(path)
		return SecretPattern(rest)
	}
	return k.secret(path)
}

// file returns the display name of a path that is one of buddy's own files or is in one of its folders; otherwise "".
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

// ownName returns the display name of one of buddy's own files or folders.
func ownName(path string) string {
	if name := filepath.Base(path); name != "buddy" {
		return "buddy's own " + name
	}
	return "buddy's own folder " + path
}

// below returns the display name of one of buddy's own files in a folder, at any depth, or "".
func (k ownKeys) below(dir string) string {
	i := slices.IndexFunc(k.Files, func(o string) bool { return texts.Below(o, dir) })
	if i < 0 {
		return ""
	}
	return ownName(k.Files[i])
}

// touched returns the display name of one of buddy's own files that a command names, or of one in a folder that it
// reads or changes as a whole; "" for none. It does not see names that a program computes.
func (k ownKeys) touched(command string, report shell.Report) string {
	text := command
	code := slices.ContainsFunc(report.Commands, func(c shell.Command) bool { return len(codeIn(command, c)) > 0 })
	if !code && !strings.Contains(text, "..") { // code may change a given file, and .. leads out of a given folder
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

// named returns the display name of one of buddy's own files that the arguments of an MCP tool name, or of one in a
// folder that they name; "" for none. Folders that contain the home folder do not count. named sees paths in quotes,
// but not paths that the tool computes from its arguments.
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

// maxPath is longer than any path that a system allows, in bytes.
const maxPath = 4096

// tail returns the part of a path below the home folder, or the whole path if it is outside. Commands are searched for
// that part only, because they may write the home folder as ~, $HOME or otherwise.
func (k ownKeys) tail(path string) string {
	if rel, err := filepath.Rel(k.home, path); k.home != "" && err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// includes is touched for one command that runs in dir.
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

// uses reports whether a command may get Given files as arguments: nothing shows that it would change them.
func uses(c shell.Command) bool {
	return c.ReadOnly || c.Effect == shell.RunsCode || c.Effect == shell.Unknown
}

// apart reports whether a folder contains neither the home folder nor the command's folder. Commands often name those;
// only a command that changes some other folder counts as changing everything in it.
func (k ownKeys) apart(dir string) bool {
	return !texts.Below(k.home, dir) && !texts.Below(k.cwd, dir)
}

// absolute returns the absolute path that a word names in dir. For a pattern, that is the folder before the first
// wildcard.
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

// guardOwn requires approval for actions on buddy's own files although a mode or a rule allows them. A rule that names
// a file can allow reading it, but no rule can allow changing it. Reading credentials is denied.
func guardOwn(p Policy, a action.Action, report shell.Report, mode action.Mode, v action.Verdict) action.Verdict {
	if len(p.Own.Files) == 0 || a.Kind == action.Internal || a.Kind == action.PlanFile {
		return v
	}
	keys := keysOf(p, a.Cwd)
	credential := func(path string) bool { return texts.Below(a.Path, path) }
	if a.Kind == action.FileRead && slices.ContainsFunc(p.Own.Credentials, credential) {
		return action.Verdict{Decision: action.Deny, Reason: ownName(a.Path) + " holds keys: no tool may read it", Rule: action.OwnKeys}
	}
	if v.Decision != action.Allow || v.Rule == InFence { // the sandbox hides these files
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

// touches returns the display name of one of buddy's own files that an action reads or changes, "" for none, and
// whether the action may change the file.
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

// onlyReads reports whether a command certainly changes nothing, because it runs in the read-only sandbox or is in the
// literal core.
func onlyReads(p Policy, a action.Action, report shell.Report) bool {
	return report.ReadOnly && (report.Beyond == "" || p.Confined && !a.Outside && a.Kind != action.PaneKeys)
}

// namedByRule reports whether one of the user's rules allows an action and names one of buddy's own files.
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
