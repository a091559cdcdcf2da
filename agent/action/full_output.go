package action

import "cmp"

// FullOutput names the file with a complete output.
type FullOutput struct {
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`             // size of the file
	Text    int64  `json:"text,omitempty"`    // shown bytes of the output; 0: all of Bytes
	Missing int64  `json:"missing,omitempty"` // bytes of the output that were not saved
}

// Shown returns the number of bytes of the output that the file can show.
func (f FullOutput) Shown() int64 { return cmp.Or(f.Text, f.Bytes) }
