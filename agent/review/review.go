// Package review finds out what a review is of, tells a model so, reads what it answers, and finds the places
// of that again.
//
//	change, err := review.Find(ctx, folder, "main")
//	findings, err := review.Parse(answer)
//	f := review.Place(ctx, folder.Files, folder.Dir, began, findings[0])
//	spot := review.Locate(ctx, folder.Files, folder.Dir, f) // later
package review
