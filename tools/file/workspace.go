// Package file holds the tools that work on files: read_file, write_file, edit_file, apply_patch, list_dir, glob and
// grep.
//
//	ws, err := file.NewWorkspace("/home/ann/shop", policy.Secret)
//	registry := tools.NewRegistry(file.Tools(ws)...)
package file

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	"buddy/agent/action"
	"buddy/texts"
	"buddy/tmux/host"
	"buddy/tools"
	"buddy/tools/fs"
)

// Workspace is shared by the file tools of one session. It holds the folder that relative paths start from, and the
// model's knowledge of files. It is safe for concurrent use.
type Workspace struct {
	files   fs.FS
	secret  func(path string) string
	own     []string      // files and folders of buddy itself, absolute real paths
	outputs string        // the folder of the session's overflow on this machine, "" for none
	plan    *Plan         // nil for none
	mine    bool          // RefuseForeign was called
	shell   func() string // see FollowShell; nil for none
	// holdsOutputs means that the workspace holds only the overflow of calls, so that files of any size are searched.
	holdsOutputs bool

	recovery fs.Recovery // old bytes of files that are written in place

	finding sync.Mutex // guards root and home
	root    string     // absolute, symbolic links resolved; empty until the target was reached
	home    string     // of the user; empty if unknown

	writing sync.Mutex // held from reading a file for a replacement until the write
	seen    *Readers   // files that were read or written
}

// NewWorkspace returns a workspace at the folder root. secret returns the part of a path that may hold secrets, or "".
// Searches skip files with such a part, because nobody has approved reading them.
func NewWorkspace(root string, secret func(path string) string) (*Workspace, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("workspace %q: %w", root, err)
	}
	resolved, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, fmt.Errorf("workspace %q: %w", root, err)
	}
	w := &Workspace{files: fs.Local, root: resolved, secret: secret, seen: new(Readers)}
	_, _, err = w.find(context.Background())
	return w, err
}

// NewWorkspaceAs is like NewWorkspace, but displays the target as name instead of local. It serves a part of a session
// that works in another folder.
func NewWorkspaceAs(name, root string, secret func(path string) string) (*Workspace, error) {
	w, err := NewWorkspace(root, secret)
	if err == nil {
		w.files = fs.LocalAs(name)
	}
	return w, err
}

// NewTargetWorkspace returns a workspace on h, displayed as name, at the folder root there: a real path as
// [host.Host.RealPath] returns it, or "" for the home folder, which is looked up when needed.
func NewTargetWorkspace(h *host.Host, name, root string, secret func(path string) string) *Workspace {
	return &Workspace{files: fs.On(h, name), root: root, secret: secret, seen: new(Readers)}
}

// Protect marks files and folders, given by their absolute real paths, as secret. Call it before the first tool runs.
func (w *Workspace) Protect(own []string) { w.own = own }

// KeepOldBytes sets the folder that stores the old bytes of files while w writes them in place. Without it w writes no
// file in place. Call it before the first tool call.
func KeepOldBytes(w *Workspace, r fs.Recovery) { w.recovery = r }

// Recover restores files of w's target that an earlier process has left half written, see [fs.Recovery.Recover].
func Recover(ctx context.Context, w *Workspace) []fs.Interrupted {
	return w.recovery.Recover(ctx, w.files)
}

// RefuseForeign makes Peek refuse files on this machine that another user could change or replace. Call it before the
// first Peek.
func RefuseForeign(w *Workspace) { w.mine = true }

// Secret returns the part of an absolute path that may hold secrets, or "".
func (w *Workspace) Secret(path string) string {
	for _, o := range w.own {
		if texts.Below(path, o) {
			return filepath.Base(o)
		}
	}
	return w.secret(path)
}

// find returns the workspace folder and the home folder; it queries the target once.
func (w *Workspace) find(ctx context.Context) (root, home string, err error) {
	w.finding.Lock()
	defer w.finding.Unlock()
	if w.home == "" {
		if w.home, err = w.files.Home(ctx); err != nil {
			return "", "", err
		}
		if w.root == "" {
			w.root = w.home
		}
	}
	return w.root, w.home, nil
}

// Root returns the real path of the folder; "" until a target was reached.
func (w *Workspace) Root() string {
	w.finding.Lock()
	defer w.finding.Unlock()
	return w.root
}

// resolve returns the real path of arg: absolute, without symbolic links. For a file that does not exist yet, the
// existing part is resolved. An error tells the model what to change, and reveals nothing about a file except that it
// exists.
//
// The path is cleaned as text first: "link/../x" is the file x in the folder of the link.
func (w *Workspace) resolve(ctx context.Context, arg string) (string, error) {
	if len(arg) > fs.MaxPath {
		return "", tools.Invalid("path: longer than %d bytes", fs.MaxPath)
	}
	if strings.ContainsFunc(arg, unicode.IsControl) {
		return "", tools.Invalid("path: %q contains a control character", texts.ClipBytes(arg, 200))
	}
	path, err := w.absolute(ctx, arg)
	if err != nil {
		return "", err
	}
	if path, err = w.files.RealPath(ctx, path); err != nil {
		return "", tools.Failed(err)
	}
	if strings.ContainsFunc(path, unicode.IsControl) {
		return "", tools.Invalid("path: %q leads to %q, which contains a control character", texts.ClipBytes(arg, 200), texts.ClipBytes(path, 200))
	}
	return path, nil
}

// absolute returns the absolute path of an argument, with its symbolic links.
func (w *Workspace) absolute(ctx context.Context, arg string) (string, error) {
	root, home, err := w.find(ctx)
	switch {
	case err != nil:
		return "", tools.Failed(err)
	case (arg == "~" || strings.HasPrefix(arg, "~/")) && home == "":
		return "", tools.Invalid("path: %q: the home folder is not known", texts.ClipBytes(arg, 200))
	case arg == "~" || strings.HasPrefix(arg, "~/"):
		return filepath.Join(home, arg[1:]), nil
	case filepath.IsAbs(arg):
		return filepath.Clean(arg), nil
	}
	return filepath.Join(root, arg), nil
}

// links adds the absolute form of arg to list, if symbolic links lead from there to path.
func (w *Workspace) links(ctx context.Context, list []string, arg, path string) []string {
	name, err := w.absolute(ctx, arg)
	if err != nil || name == path || slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

// Follow resolves the symbolic links of path, which is absolute, part by part as the kernel does: a .. after a link
// means the parent of the folder to which the link leads. Trailing names need not exist. It returns "" when the target
// can't resolve the path. It queries the target, which may take seconds.
func (w *Workspace) Follow(path string) string {
	ctx, done := tools.PlanContext()
	defer done()
	real, err := w.files.RealPath(ctx, path)
	if err != nil {
		return ""
	}
	return real
}

// show returns path as the model should use it: relative if inside the workspace.
func (w *Workspace) show(path string) string {
	rel, err := filepath.Rel(w.Root(), path)
	if err != nil || !filepath.IsLocal(rel) {
		return path
	}
	return rel
}

// planRead returns the plan of a tool that only reads path; "" is the workspace itself.
func (w *Workspace) planRead(tool, path, why string) (action.Action, error) {
	if path == "" {
		path = "."
	}
	ctx, done := tools.PlanContext()
	defer done()
	real, err := w.resolve(ctx, path)
	note := ""
	if err == nil {
		real, note, err = meant(ctx, w, path, real)
	}
	if err != nil {
		return action.Action{}, err
	}
	return action.Action{Kind: action.FileRead, Tool: tool, Target: w.files.Name(), Path: real, Op: note, Why: why, Risk: action.Low}, nil
}

// systemDirs are folders of the operating system; a change there may break the machine or grant rights on it.
var systemDirs = []string{
	"/etc", "/bin", "/sbin", "/usr", "/lib", "/lib64", "/boot", "/dev", "/proc", "/sys",
	"/System", "/Library", "/private/etc",
}

// homeDirs are the folders in the home folder that hold keys.
var homeDirs = []string{".ssh", ".gnupg", ".aws"}

// writeRisk rates the harm that a change of path can do. Files in a .git folder can be
// executed by the next git command.
func (w *Workspace) writeRisk(path string) action.Risk {
	for _, dir := range systemDirs {
		if within(dir, path) {
			return action.High
		}
	}
	w.finding.Lock()
	home := w.home // known since the path was resolved
	w.finding.Unlock()
	for _, dir := range homeDirs {
		if home != "" && within(filepath.Join(home, dir), path) {
			return action.High
		}
	}
	for name := range strings.SplitSeq(path, "/") {
		if strings.EqualFold(name, ".git") {
			return action.High
		}
	}
	return action.Medium
}

// within reports whether path is dir or below it, ignoring case, as on macOS.
func within(dir, path string) bool {
	if len(path) < len(dir) || !strings.EqualFold(path[:len(dir)], dir) {
		return false
	}
	return len(path) == len(dir) || path[len(dir)] == '/'
}

// plannedPath returns the approved path.
func plannedPath(call tools.Call) (string, error) {
	if !filepath.IsAbs(call.Planned.Path) {
		return "", fmt.Errorf("%w: the call of %s was not planned", tools.ErrExecution, call.Name)
	}
	return call.Planned.Path, nil
}

// WalkFiles calls [fs.WalkFiles] for the workspace.
func (w *Workspace) WalkFiles(ctx context.Context, skip func(name string) bool, visit func(rel string) error) error {
	root, _, err := w.find(ctx)
	if err != nil {
		return err
	}
	return fs.WalkFiles(ctx, w.files, root, skip, visit)
}
