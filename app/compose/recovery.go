package compose

import (
	"context"
	"path/filepath"

	"github.com/adrg/xdg"

	"buddy/agent/event"
	"buddy/tools/file"
	"buddy/tools/fs"
)

// recoveryDir is the folder for the old bytes of files that are written in place.
func recoveryDir() fs.Recovery { return fs.Recovery(filepath.Join(xdg.StateHome, "buddy", "recovery")) }

// recoverFiles puts files of a target back that a process has left half written when it ended, and says so. The names
// begin with prefix.
func (p *Program) recoverFiles(files *file.Workspace, prefix string) {
	ctx, done := context.WithTimeout(context.Background(), findTime)
	defer done()
	if prefix != "" {
		prefix += ":"
	}
	for _, one := range file.Recover(ctx, files) {
		p.Live.Publish(recovered(one, prefix))
	}
}

// recovered says what became of a file that was half written.
func recovered(one fs.Interrupted, prefix string) event.Event {
	const code = "recovery"
	if one.Copy == "" {
		return event.Notice{Text: "buddy ended while writing " + prefix + one.Path + " and restored the file's earlier content", Code: code}
	}
	return event.Warning{
		Text: "buddy ended while writing " + prefix + one.Path + " and could not restore the file: it changed since or can't be read", Code: code,
		NextStep: "look at the file; its earlier content is in " + one.Copy + " for 30 days",
	}
}
