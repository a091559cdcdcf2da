package cli

import (
	"path/filepath"

	"buddy/agent/action"
	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/socket"
)

// byPerson returns nil unless a session that has the folders of this process runs it, in a command, a hook or a server.
// What loosens something is for the person. More files that would be changed can be named.
func byPerson(files ...string) error {
	folders := socket.Folders()
	for _, file := range files {
		if dir, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil {
			folders = append(folders, dir)
		}
	}
	return exit.Failure(socket.Within(folders))
}

// noLooser is byPerson for a session that asks nobody, unless it is as strict as the person's settings have it.
func noLooser(f *compose.Options) error {
	if f.Config == "" && (f.Approve == "" || action.Stricter(f.Approve, action.ModeAsk) == f.Approve) {
		return nil
	}
	return byPerson()
}
