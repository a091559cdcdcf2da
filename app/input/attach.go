// Package input helps the user to write a prompt: with the input history, completion of file names, pictures, an
// external editor and the clipboard.
//
//	earlier := input.OpenHistory().Load()
//	pictures, err := input.Attached("what is wrong in @shot.png?")
package input

import (
	"errors"
	"fmt"
	"os"

	"buddy/agent/model"
	"buddy/texts"
)

// MaxPrompt limits a prompt from stdin or the clipboard, in bytes.
const MaxPrompt = 4 << 20

// Attached returns the pictures that a prompt names after an @, such as @docs/screen.png or @"my screen.png". Names of
// other files stay text, because the session reads them on its target.
func Attached(prompt string) ([]model.Image, error) {
	var all []model.Image
	for m := range texts.Mentions(prompt) {
		if !model.IsImageName(m.Name) {
			continue
		}
		img, err := readImage(m.Name)
		if errors.Is(err, os.ErrNotExist) {
			continue // it only looks like a file
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
		all = append(all, img)
	}
	return all, nil
}

func readImage(name string) (model.Image, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return model.Image{}, err
	case !info.Mode().IsRegular():
		return model.Image{}, errors.New("not a regular file")
	case info.Size() > model.MaxPicture:
		return model.Image{}, model.TooLarge(info.Size(), model.MaxPicture)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return model.Image{}, err
	}
	return model.NewImage(data)
}
