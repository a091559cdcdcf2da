package compose

import (
	"context"
	"path/filepath"

	"github.com/adrg/xdg"

	"buddy/agent/event"
	"buddy/tools/file"
	"buddy/tools/fs"
)

// recoveryDir returns the folder for the old content of files that are overwritten in place.
func recoveryDir() fs.Recovery { return fs.Recovery(filepath.Join(xdg.StateHome, "buddy", "recovery")) }

// recoverFiles restores the files that an earlier process left half written on a target, and publishes an event for
// each. prefix is the target's name in paths, "" for the first target.
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

// recovered returns the event about a half-written file.
func recovered(one fs.Interrupted, prefix string) event.Event {
	const code = "recovery"
	if one.Copy == "" {
		return event.Notice{Text: "buddy ended while writing " + prefix + one.Path + " and restored the file's earlier content", Code: code}
	}
	return event.Warning{
		Text: "buddy ended while writing " + prefix + one.Path + " and could not restore the file: it changed since or can't be read", Code: code,
		NextStep: "check the file; buddy keeps its earlier content in " + one.Copy + " for 30 days",
	}
}
