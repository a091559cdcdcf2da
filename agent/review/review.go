// Package review finds out what a review is of, tells a model so, and reads what it answers.
package review
