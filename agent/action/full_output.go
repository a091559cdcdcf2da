package action

import "cmp"

// FullOutput names the file with a complete output.
type FullOutput struct {
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`             // size of the file
	Text    int64  `json:"text,omitempty"`    // shown bytes of the output; 0: all of Bytes
	Missing int64  `json:"missing,omitempty"` // bytes of the output that were not saved
}

// Shown returns how many bytes of the complete output are visible on a screen. The file may be larger, because it also
// holds what a terminal doesn't display.
func (f FullOutput) Shown() int64 { return cmp.Or(f.Text, f.Bytes) }
