package extensions

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path"
)

//go:embed builtin
var builtin embed.FS

// builtInDir prefixes the paths of built-in extensions, which are not files.
const builtInDir = "buddy:"

// BuiltInSource returns the source of the extensions that come with the program.
func BuiltInSource() Source {
	return Source{Origin: BuiltIn, Files: embedded{}, Dirs: []string{builtInDir}}
}

// embedded reads the files in the program.
type embedded struct{}

// The files of the review skill and the review agent share a text, the review points: the content of pointsFile
// replaces reviewPoints in both.
const (
	reviewPoints = "{{review_points}}"
	pointsFile   = "builtin/review_points.md"
)

func inside(name string) string {
	if name == builtInDir {
		return "builtin"
	}
	return path.Join("builtin", name[len(builtInDir)+1:])
}

// Peek implements [Files].
func (embedded) Peek(_ context.Context, name string, max int64) (string, []byte, error) {
	data, err := builtin.ReadFile(inside(name))
	if bytes.Contains(data, []byte(reviewPoints)) {
		var points []byte
		points, err = builtin.ReadFile(pointsFile)
		data = bytes.ReplaceAll(data, []byte(reviewPoints), bytes.TrimSpace(points))
	}
	if int64(len(data)) > max {
		err = fmt.Errorf("the file has %d bytes (allowed: %d)", len(data), max)
	}
	return name, data, err
}

// List implements [Files].
func (embedded) List(_ context.Context, dir string, _ int) (string, []fs.DirEntry, error) {
	entries, err := builtin.ReadDir(inside(dir))
	return dir, entries, err
}
