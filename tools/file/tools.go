package file

import "buddy/tools"

// Tools returns all tools for the files of ws, in the order in which the model sees them.
func Tools(ws *Workspace) []tools.Tool {
	return []tools.Tool{NewReadFile(ws), NewWriteFile(ws), NewEditFile(ws), NewApplyPatch(ws), newListDir(ws), newGlob(ws), NewGrep(ws)}
}
