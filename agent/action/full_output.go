package action

import "cmp"

// FullOutput names the file with a complete output.
type FullOutput struct {
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`             // size of the file
	Text    int64  `json:"text,omitempty"`    // shown bytes of the output; 0: all of Bytes
	Missing int64  `json:"missing,omitempty"` // bytes of the output that were not saved
}

// Shown returns the size in bytes of the complete output as it is shown. The file may be larger, with what a terminal
// hides.
func (f FullOutput) Shown() int64 { return cmp.Or(f.Text, f.Bytes) }
