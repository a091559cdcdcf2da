package subagent

import (
	"context"
	"errors"

	"buddy/extensions"
)

// Reviewer returns the definition of the agent that reviews changes. It is always that of the program:
// nothing of a project or a person with the same name takes its place.
func Reviewer() (Definition, error) {
	found, err := extensions.Read(context.Background(), extensions.Agent, extensions.Source{
		Origin: extensions.BuiltIn, Files: extensions.BuiltInSource().Files, Roots: map[extensions.Kind][]string{extensions.Agent: {"buddy:/reviewer.md"}},
	})
	if err != nil {
		return Definition{}, err
	}
	all, _ := All(found.Items)
	if len(all) != 1 {
		return Definition{}, errors.New("the definition of the reviewer can't be read")
	}
	return all[0], nil
}
