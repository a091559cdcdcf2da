package pane

import "strings"

// ofFlag begins an argument of a supervisor or a host that names a folder of the session that it belongs to. Others can
// read it, also where they can't read the environment of the process.
const ofFlag = "--of="

// Of returns the arguments that name folders of a session.
func Of(folders []string) (args []string) {
	for _, dir := range folders {
		args = append(args, ofFlag+dir)
	}
	return args
}

// OfWhich returns the folders that a command line names.
func OfWhich(args []string) (folders []string) {
	for _, arg := range args {
		if dir, ok := strings.CutPrefix(arg, ofFlag); ok {
			folders = append(folders, dir)
		}
	}
	return folders
}
