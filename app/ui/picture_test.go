package ui

import (
	"errors"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
)

func TestPicturesAreChips(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 80, 24)
		x.u.deps.Picture = func(pasted string) string {
			if pasted == "'/tmp/a b.png'" {
				return "/pics/a.png"
			}
			return ""
		}
		x.u.deps.Background = func(work func() func()) { work()() }
		clipboard, failure := "/pics/clip.png", error(nil)
		x.u.deps.ClipboardPicture = func() (string, error) { return clipboard, failure }
		x.Type("see")
		x.Paste("'/tmp/a b.png'")
		x.Want("> see [image 1]")
		x.Type("and")
		x.Press("Ctrl+V")
		x.Settle()
		x.Want("> see [image 1] and [image 2]")
		x.Press("Backspace", "Backspace") // the space, and the picture as one
		x.Settle()
		x.unwanted("[image 2]", "[image 1] and [")
		x.Type(" that\n")
		x.Settle()
		x.wantSent(event.Submit{Text: "see @/pics/a.png and  that"})
		x.Paste("/tmp/a.png is not a path alone")
		x.Want("> /tmp/a.png is not a path alone")
		failure = errors.New("the clipboard has no picture")
		x.Press("Ctrl+V")
		x.Settle()
		x.Want("picture not inserted: the clipboard has no picture")
	})
}
