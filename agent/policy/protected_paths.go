package policy

import (
	"path/filepath"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/texts"
)

// protected are the folders of the system that no file tool changes unless a rule allows the
// path.
var protected = []string{
	"/etc", "/bin", "/sbin", "/lib", "/lib64", "/usr", "/boot", "/dev", "/proc", "/sys", "/System", "/Library", "/private/etc",
}

// keyFolders are names of folders with keys, at any depth.
var keyFolders = []string{".ssh", ".gnupg", ".aws"}

// protectedReason returns why a file must not be changed, or "".
func (p Policy) protectedReason(path string) string {
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if slices.Contains(keyFolders, strings.ToLower(part)) {
			return "keys are in " + part
		}
	}
	for _, dir := range protected {
		own := func(folder string) bool { return texts.Below(folder, dir) && texts.Below(path, folder) }
		if texts.Below(path, dir) && !own(p.Workspace) && !slices.ContainsFunc(p.Also, own) {
			return dir + " belongs to the system"
		}
	}
	return ""
}

// runners are files that programs read as instructions; whoever can write them can run
// commands later.
var runners = []string{
	".git", ".hg", ".svn", ".envrc", ".buddyx", "buddy.toml", ".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", ".zprofile",
	".gitconfig", ".gitmodules", ".gitattributes", ".husky", ".vscode", ".idea", ".github", ".gitlab-ci.yml", ".cargo", ".mcp.json",
	".pre-commit-config.yaml", ".tmux.conf", ".vimrc", ".npmrc", ".yarnrc", ".pypirc", "crontab", ".claude", ".cursor", "agents.md", "claude.md",
}

// delicate returns why a change of the file needs approval even where files may be changed, or
// "".
func delicate(path string) string {
	if s := Secret(path); s != "" {
		return s + " may hold secrets"
	}
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if slices.Contains(runners, strings.ToLower(part)) {
			return part + " can make other programs run commands"
		}
	}
	return ""
}

// editable reports whether mode edits allows the write.
func (p Policy) editable(a action.Action) bool {
	return a.Kind == action.FileWrite && p.inWorkspace(a.Path) && a.Path != p.Workspace && !slices.Contains(p.Also, a.Path) && delicate(a.Path) == "" && !a.Privesc
}
