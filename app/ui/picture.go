package ui

// pastedPicture returns the file of a picture whose path was pasted, "" for other text.
func pastedPicture(u *UI, text string) (path string) {
	if u.deps.Picture == nil {
		return ""
	}
	return u.deps.Picture(text)
}

// insertPicture puts the picture of the clipboard into the prompt once it has been read.
func insertPicture(u *UI) {
	if u.deps.ClipboardPicture == nil {
		return
	}
	u.deps.Background(func() func() {
		path, err := u.deps.ClipboardPicture()
		return func() {
			if err != nil {
				u.hint("", "picture not inserted: "+err.Error())
				return
			}
			u.v.prompt.InsertPicture(path)
		}
	})
}
