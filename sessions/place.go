package sessions

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/adrg/xdg"
	"golang.org/x/sys/unix"

	"buddy/owners"
	"buddy/texts"
)

// Location is a kind of place for the sessions of a project.
type Location string

const (
	// Automatic is InState, but InProject in a container where only the project outlives the container. Unknown words
	// count as Automatic.
	Automatic Location = "auto"
	// InState is a folder for each project in the user's state folder.
	InState Location = "state"
	// InProject is the folder .buddyx of the working directory.
	InProject Location = "project"
)

// projects returns the folder below the state folder that has a folder NAME-HASH for each project, with the sessions,
// the memory, and a file with the path of the project.
func projects(state string) string { return filepath.Join(state, "projects") }

// maxName limits the bytes of a project's name in the name of its folder.
const maxName = 100

// rootFile is the name of the file with the path of a project.
const rootFile = "path"

// Dir returns the store of the working directory cwd, which all folders and worktrees of a repository share. It tries
// three places and returns the first writable one: the requested location, then the other one of InState and InProject,
// then a folder that lasts until the machine restarts. The notice explains why the requested location was not used. Dir
// creates nothing.
func Dir(cwd string, where Location) (s Store, notice string, err error) {
	cwd, err = filepath.Abs(cwd)
	if err != nil {
		return Store{}, "", fmt.Errorf("sessions of %q: %w", cwd, err)
	}
	state := filepath.Join(xdg.StateHome, "buddy")
	root := projectOf(cwd)
	inState, inProject := inProjects(state, root), localDir(cwd)
	if where != InState && where != InProject && throwAway(cwd, state) {
		where = InProject
	}
	places := []string{inState, inProject}
	if where == InProject {
		slices.Reverse(places)
	}
	places = append(places, inProjects(runtimeDir(), root))
	var causes []error
	for i, dir := range places {
		cause := usable(dir)
		if dir == inProject {
			cause = usableLocal(dir, state)
		} else if cause == nil && i == 2 {
			cause = owners.Check(dir)
		}
		if cause != nil {
			causes = append(causes, fmt.Errorf("%s: %w", dir, cause))
			continue
		}
		s = Store{dir: dir, state: state, root: root, others: slices.DeleteFunc(formerDirs(state, cwd, root), func(d string) bool { return d == dir })}
		switch i {
		case 1:
			notice = fmt.Sprintf("sessions are kept in %s, because %v", dir, causes[0])
		case 2:
			notice = fmt.Sprintf("sessions are kept in %s until this machine restarts, because %v and %v; make one of the two writable", dir, causes[0], causes[1])
		}
		return s, notice, nil
	}
	return Store{}, "", fmt.Errorf("no folder for sessions: %w", errors.Join(causes...))
}

// At returns the store in a folder, for reading by a program with a different state folder than the writer.
func At(dir string) Store { return Store{dir: dir} }

// inProjects returns the folder for the sessions of a project in a state folder.
func inProjects(state, root string) string {
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(projects(state), texts.ClipBytes(filepath.Base(root), maxName)+"-"+hex.EncodeToString(sum[:6]), "sessions")
}

// localDir returns the folder for sessions in a working directory: .buddyx/sessions, .agentx/sessions where only that exists.
func localDir(cwd string) string {
	if old := filepath.Join(cwd, ".agentx"); !exists(filepath.Join(cwd, ".buddyx")) && exists(old) {
		return filepath.Join(old, "sessions")
	}
	return filepath.Join(cwd, ".buddyx", "sessions")
}

// formerDirs returns the other folders that may have sessions of a project, from other settings or an older program.
func formerDirs(state, cwd, root string) []string {
	sum := sha256.Sum256([]byte(cwd))
	all := []string{
		inProjects(state, root), localDir(cwd), filepath.Join(cwd, ".agentx", "sessions"),
		filepath.Join(state, "sessions", filepath.Base(cwd)+"-"+hex.EncodeToString(sum[:4])), inProjects(runtimeDir(), root),
	}
	known, _ := folders(state) // without the list they are found when buddy is started in these folders
	for _, dir := range known {
		if texts.Below(dir, root) && projectOf(filepath.Dir(filepath.Dir(dir))) == root {
			all = append(all, dir)
		}
	}
	if own := inProjects(state, texts.RealPath(cwd)); texts.RealPath(cwd) != root { // from before it was part of a repository
		all = append(all, own)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// runtimeDir returns the user's folder for data that may vanish when the machine restarts.
func runtimeDir() string {
	if fi, err := os.Stat(xdg.RuntimeDir); err == nil && fi.IsDir() {
		return filepath.Join(xdg.RuntimeDir, "buddy")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("buddy-%d", os.Getuid()))
}

// projectOf returns the folder that identifies the project of a working directory: that of its repository, which is the
// same for all worktrees, or the real path of the directory itself. It runs no git, and trusts a file of the project
// that points elsewhere only if that place points back.
func projectOf(cwd string) string {
	cwd = texts.RealPath(cwd)
	for dir := cwd; ; dir = filepath.Dir(dir) {
		dotGit := filepath.Join(dir, ".git")
		fi, err := os.Lstat(dotGit)
		switch {
		case err == nil && fi.IsDir() && exists(filepath.Join(dotGit, "HEAD")):
			return dir
		case err == nil && fi.Mode().IsRegular():
			if common := commonDir(dotGit); filepath.Base(common) == ".git" {
				return filepath.Dir(common)
			} else if common != "" {
				return common
			}
			return dir // a submodule, or a repository whose folder is elsewhere
		case dir == filepath.Dir(dir):
			return cwd
		}
	}
}

// commonDir returns the folder that a worktree shares with others, from its .git file (gitrepository-layout(5)), "" for
// none.
func commonDir(dotGit string) string {
	text, err := readSmall(dotGit)
	gitDir, ok := strings.CutPrefix(strings.TrimSpace(text), "gitdir: ")
	if err != nil || !ok {
		return ""
	}
	gitDir = below(filepath.Dir(dotGit), gitDir)
	back, err := readSmall(filepath.Join(gitDir, "gitdir"))
	common, err2 := readSmall(filepath.Join(gitDir, "commondir"))
	if err != nil || err2 != nil || texts.RealPath(below(gitDir, strings.TrimSpace(back))) != dotGit {
		return ""
	}
	return texts.RealPath(below(gitDir, strings.TrimSpace(common)))
}

// below resolves a path that may be relative to dir.
func below(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// isFolder reports whether a folder, and not a link to one, is at a path.
func isFolder(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.IsDir()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// usableLocal returns why sessions can't be stored in a project. A link to our own state folder is no obstacle.
func usableLocal(dir, state string) error {
	if isOwnLink(dir, state) {
		return usable(filepath.Dir(dir))
	}
	if err := usable(filepath.Dir(dir), dir); err != nil {
		return err
	}
	return owners.Check(dir)
}

// usable returns why the last of dirs can't be written or created. None of them may be a symbolic link, because a
// cloned repository could redirect sessions anywhere.
func usable(dirs ...string) error {
	for _, d := range dirs {
		if fi, err := os.Lstat(d); err == nil && fi.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a symbolic link", d)
		}
	}
	for dir := dirs[len(dirs)-1]; ; dir = filepath.Dir(dir) {
		fi, err := os.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir):
			continue
		case errors.Is(err, syscall.ENOTDIR), err == nil && !fi.IsDir():
			return errors.New("a file is in its place")
		case err != nil:
			return err
		}
		return unix.Access(dir, unix.W_OK|unix.X_OK)
	}
}

// Others returns further stores with sessions of the same project: from an older program, from other settings, and
// those that could not be moved.
func (s Store) Others() (all []Store) {
	for _, dir := range s.others {
		if !isFolder(dir) || foreign(s, dir) {
			continue
		}
		all = append(all, Store{dir: dir, state: s.state, root: s.root})
	}
	return all
}

// foreign reports whether a folder with sessions can't be trusted, because another user could change it or it belongs
// to another project.
func foreign(s Store, dir string) bool {
	if filepath.Dir(filepath.Dir(dir)) == projects(s.state) {
		return dir != inProjects(s.state, s.root) && !exists(filepath.Join(filepath.Dir(dir), rootFile))
	}
	return !isFolder(filepath.Dir(dir)) || !texts.Below(dir, s.state) && owners.Check(dir) != nil
}

// MemoryDir returns the folder for memory that belongs to the sessions of a store. It may not exist yet.
func MemoryDir(s Store) string { return filepath.Join(filepath.Dir(s.dir), "memory") }

// writeRoot stores the path of the project in the folder of its sessions.
func writeRoot(s Store) error {
	err := writeNew(filepath.Join(filepath.Dir(s.dir), rootFile), s.root+"\n")
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// rootOf returns the path of the project for a folder of sessions in the state folder, "" if unknown.
func rootOf(dir string) string {
	text, err := readSmall(filepath.Join(filepath.Dir(dir), rootFile))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(text, "\n")
}

// Project returns the folder of the sessions' project; "" if unknown.
func Project(s Store) string { return s.root }

// HasFolder reports whether a folder belongs to the project of a store.
func HasFolder(s Store, dir string) bool { return exists(dir) && projectOf(dir) == s.root }
