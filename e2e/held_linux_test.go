package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// stored returns the contents of the sessions, "" when there are none.
func (d *dialog) stored() string {
	files, _ := filepath.Glob(filepath.Join(d.work, ".buddyx/sessions/*.jsonl"))
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			d.t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// A terminal that accepts no output, as after Ctrl-S, delays neither the model nor the session, and shows the end once
// it accepts output again.
func TestHeldTerminal(t *testing.T) {
	d := converse(t, "xterm-256color")
	d.want("Enter")
	d.held.Lock()
	d.types("flood\r")
	deadline := time.Now().Add(plainLimit)
	for !strings.Contains(d.stored(), `"task.finished"`) {
		if time.Now().After(deadline) {
			d.held.Unlock()
			t.Fatal("the exchange waits for the terminal")
		}
		time.Sleep(20 * time.Millisecond) // a real process
	}
	d.held.Unlock()
	d.want("ENDMARK")
	d.stop()
}

// Text typed before the first prompt is in the history after kill -9, leaves no file in the folder, and is not joined
// with the text typed after the next start.
func TestDraftSurvivesAKill(t *testing.T) {
	d := converse(t, "xterm-256color")
	d.want("Enter")
	d.types("never touch vendor")
	drafts := filepath.Join(d.work, "home/.local/state/buddy/drafts/*.draft")
	for deadline := time.Now().Add(plainLimit); ; time.Sleep(20 * time.Millisecond) { // a real process
		files, _ := filepath.Glob(drafts)
		if len(files) == 1 {
			if text, err := os.ReadFile(files[0]); err == nil && string(text) == "never touch vendor" {
				break
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("the draft was not kept: %v", files)
		}
	}
	if _, err := os.Stat(filepath.Join(d.work, ".buddyx")); err == nil {
		t.Error("a draft made a folder")
	}
	_ = d.cmd.Process.Kill()
	_ = d.cmd.Wait()

	again := d.another()
	again.types("hello")
	again.want("Enter")
	time.Sleep(300 * time.Millisecond) // as long as a person takes; an immediate Enter would count as pasted
	again.types("\r")
	for deadline := time.Now().Add(plainLimit); !strings.Contains(again.stored(), `"text":"hello"`); time.Sleep(20 * time.Millisecond) { // a real process
		if time.Now().After(deadline) {
			t.Fatalf("what was typed is not what was sent: %s", again.stored())
		}
	}
	again.types("\x10\x10") // Ctrl+P, twice: the draft is older than the sent prompt
	again.want("never touch vendor")
}
