package manual

import (
	"strings"

	"github.com/urfave/cli/v3"
)

// ModelExamples is where, among its metadata, a command has examples of its own, without the name of the program.
const ModelExamples = "examples"

// ExamplesOf returns the examples of a command: those of its path, and its own.
func ExamplesOf(path string, c *cli.Command, examples map[string][]string) []string {
	lines := examples[path]
	if own, ok := c.Metadata[ModelExamples].([]string); ok {
		program, _, _ := strings.Cut(path, " ")
		for _, line := range own {
			lines = append(lines, program+" "+line)
		}
	}
	return lines
}

// ShowExamples puts the examples, by path, into the help of a command and of those below it.
func ShowExamples(c *cli.Command, path string, examples map[string][]string) {
	if lines := ExamplesOf(path, c, examples); lines != nil {
		c.Description = strings.TrimLeft(c.Description+"\nExamples:\n   ", "\n") + strings.Join(lines, "\n   ")
	}
	for _, sub := range c.Commands {
		ShowExamples(sub, path+" "+sub.Name, examples)
	}
}
