package pane

import "strings"

// ofFlag is the prefix of an argument by which a supervisor or a host names a folder of its session. It is an argument
// because other processes may be able to read arguments, but not the environment.
const ofFlag = "--of="

// Of returns the arguments that name folders of a session.
func Of(folders []string) (args []string) {
	for _, dir := range folders {
		args = append(args, ofFlag+dir)
	}
	return args
}

// OfWhich returns the folders named by those arguments of a command line that Of added.
func OfWhich(args []string) (folders []string) {
	for _, arg := range args {
		if dir, ok := strings.CutPrefix(arg, ofFlag); ok {
			folders = append(folders, dir)
		}
	}
	return folders
}
