// Package review finds out what a review is of, tells a model so, and reads what it answers.
//
//	change, err := review.Find(ctx, git, "main")
//	findings, err := review.Parse(answer)
package review
