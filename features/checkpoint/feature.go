package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adrg/xdg"

	"buddy/agent/turn"
	"buddy/agent/undo/snapshot"
	"buddy/app/slash"
	"buddy/config"
	"buddy/features/feature"
	"buddy/texts"
	"buddy/tools/fs"
)

// Feature makes the changes of commands undoable.
var Feature = &feature.Feature{
	Commands: []feature.Command{command},
	Part:     partOf,
}

// values are the settings; sizes are in megabytes.
type values struct {
	Commands  bool
	MaxFile   int
	MaxFolder int
	MaxTotal  int
}

const megabyte = 1 << 20

var settings = config.Own(
	"undo", "Which changes of commands `/undo` can take back (docs/sessions.md).",
	values{true, snapshot.DefaultFile / megabyte, snapshot.DefaultFolder / megabyte, snapshot.DefaultTotal / megabyte},
	config.Field[values]{
		Name: "commands", Short: "`true` or `false`",
		Doc: "Whether `/undo` covers what commands change in the session's folders on this machine. buddy then keeps copies of the files there, except " +
			"of files that `.gitignore` excludes.",
		At: func(v *values) any { return &v.Commands },
	},
	config.Field[values]{
		Name: "max_file", Short: "megabytes, 1 to 1024", Most: 1024,
		Doc: "Larger files are not copied: `/undo` names them, but does not restore them.",
		At:  func(v *values) any { return &v.MaxFile },
	},
	config.Field[values]{
		Name: "max_folder", Short: "megabytes, 1 to 1048576", Most: megabyte,
		Doc: "The size limit for the copies of a folder's present files together. The smallest files are copied first.",
		At:  func(v *values) any { return &v.MaxFolder },
	},
	config.Field[values]{
		Name: "max_total", Short: "megabytes, 1 to 1048576", Most: megabyte,
		Doc: "The size limit for all copies of a folder together. At the end of a session, buddy removes the oldest copies above this limit, except copies that the session needs.",
		At:  func(v *values) any { return &v.MaxTotal },
	},
)

// Folders returns the folders in which a session undoes the changes of commands; none if the settings turn this off.
func Folders(c *config.Config, all []string) []string {
	if !settings.In(c).Commands {
		return nil
	}
	var roots []string
	for _, dir := range all {
		outer := func(other string) bool { return other != dir && texts.Below(dir, other) }
		if dir != "" && !slices.ContainsFunc(all, outer) && !slices.Contains(roots, dir) {
			roots = append(roots, dir)
		}
	}
	return roots
}

// partOf returns the part for a session on this machine that has a folder for its files; nil for any other session.
func partOf(s feature.Session) turn.Part {
	roots := Folders(s.Config, s.Folders)
	if s.Target != slash.ThisMachine || s.Dir == "" || len(roots) == 0 {
		return nil
	}
	v := settings.In(s.Config)
	sum := sha256.Sum256([]byte(strings.Join(roots, "\x00")))
	state := filepath.Join(xdg.StateHome, "buddy")
	return New(snapshot.Open(snapshot.Options{
		Store: filepath.Join(state, "undo", hex.EncodeToString(sum[:8])), State: filepath.Join(s.Dir, "undo"), Roots: roots, Own: []string{texts.RealPath(state)},
		Limits:   snapshot.Limits{File: int64(v.MaxFile) * megabyte, Folder: int64(v.MaxFolder) * megabyte, Total: int64(v.MaxTotal) * megabyte},
		Recovery: fs.Recovery(filepath.Join(state, "recovery")),
	}), s.Target)
}
