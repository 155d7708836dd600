// Package manual holds the examples of the commands, and writes what a shell and man(1) show of them, from their help.
package manual

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"
)

// Shells are those that Completion knows.
func Shells() []string { return []string{"bash", "fish", "zsh"} }

// Completion writes a script that completes the commands and flags of app in a shell, and otherwise the names of files.
// The script holds the words and runs nothing of what stands on the line.
func Completion(w io.Writer, app *cli.Command, shell string) error {
	var text string
	switch shell {
	case "bash":
		text = bash(app)
	case "fish":
		text = fish(app)
	case "zsh":
		text = zsh(app)
	default:
		return fmt.Errorf("unknown shell %q: want one of %s", shell, strings.Join(Shells(), ", "))
	}
	_, err := io.WriteString(w, text)
	return err
}

// option is a flag as it is typed, without the dash.
type option struct {
	names []string
	head  string // the names with the value, as a manual shows them
	about string
	value bool // it takes one
}

// node is a command and its place, as "wpm solve flow".
type node struct {
	path     string
	command  *cli.Command
	children []*cli.Command
	options  []option
}

// walk returns the visible commands below and with c, each before those below it. Flags of those above stand for all
// below.
func walk(c *cli.Command, path string, inherited []option) []node {
	options := slices.Clone(inherited)
	for _, f := range c.Flags {
		if v, ok := f.(cli.VisibleFlag); ok && v.IsVisible() {
			options = append(options, describe(f))
		}
	}
	n := node{path: path, command: c, options: append(slices.Clip(options), option{[]string{"help", "h"},
		"-help, -h", "show help", false})}
	nodes := []node{}
	for _, sub := range c.Commands {
		if !sub.Hidden && sub.Name != "help" {
			n.children = append(n.children, sub)
			nodes = append(nodes, walk(sub, path+" "+sub.Name, options)...)
		}
	}
	return append([]node{n}, nodes...)
}

func describe(f cli.Flag) option {
	head, about, _ := strings.Cut(f.String(), "\t")
	about, _, _ = strings.Cut(about, "\n")
	_, boolean := f.(*cli.BoolFlag)
	return option{f.Names(), head, strings.TrimSpace(about), !boolean}
}

func names(commands []*cli.Command) (out []string) {
	for _, c := range commands {
		out = append(out, c.Name)
	}
	return out
}

// descend is a case of bash and zsh that goes from a command to the one that a word names.
func descend(nodes []node) string {
	var paths []string
	for _, n := range nodes[1:] {
		paths = append(paths, `"`+n.path+`"`)
	}
	return "    case \"$at $word\" in\n      " + strings.Join(paths, " | \\\n      ") + ") at=\"$at $word\" ;;\n    esac\n"
}

func bash(app *cli.Command) string {
	nodes := walk(app, app.Name, nil)
	var b strings.Builder
	fmt.Fprintf(&b, "# Completion of %[1]s for bash: source <(%[1]s completion bash)\n_%[1]s() {\n", app.Name)
	fmt.Fprintf(&b, "  local cur=${COMP_WORDS[COMP_CWORD]} at=%s commands='' flags='' word\n", app.Name)
	fmt.Fprintf(&b, "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n%s  done\n  case \"$at\" in\n", descend(nodes))
	for _, n := range nodes {
		fmt.Fprintf(&b, "    %q)\n      commands='%s'\n      flags='", n.path, strings.Join(names(n.children), " "))
		for _, o := range n.options {
			fmt.Fprintf(&b, " -%s", strings.Join(o.names, " -"))
		}
		b.WriteString("' ;;\n")
	}
	fmt.Fprintf(&b, "  esac\n"+
		"  case \"$cur\" in\n"+
		"    --*) COMPREPLY=($(compgen -W \"${flags// -/ --}\" -- \"$cur\")) ;;\n"+
		"    -*) COMPREPLY=($(compgen -W \"$flags\" -- \"$cur\")) ;;\n"+
		"    *) COMPREPLY=($(compgen -W \"$commands\" -- \"$cur\")) ;;\n"+
		"  esac\n}\ncomplete -o default -F _%[1]s %[1]s\n", app.Name)
	return b.String()
}

// quote puts text into single quotes for a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func zsh(app *cli.Command) string {
	nodes := walk(app, app.Name, nil)
	colon := strings.NewReplacer(`\`, `\\`, ":", `\:`)
	var b strings.Builder
	fmt.Fprintf(&b,
		"#compdef %[1]s\n# Completion of %[1]s for zsh: source <(%[1]s completion zsh), after compinit\n_%[1]s() {\n",
		app.Name)
	fmt.Fprintf(&b, "  local at=%s word\n  local -a commands flags\n", app.Name)
	fmt.Fprintf(&b, "  for word in \"${(@)words[2,CURRENT-1]}\"; do\n%s  done\n  case \"$at\" in\n", descend(nodes))
	for _, n := range nodes {
		fmt.Fprintf(&b, "    %q)\n      commands=(", n.path)
		for _, c := range n.children {
			fmt.Fprintf(&b, "\n        %s", quote(colon.Replace(c.Name)+":"+c.Usage))
		}
		b.WriteString(")\n      flags=(")
		for _, o := range n.options {
			for _, name := range o.names {
				fmt.Fprintf(&b, "\n        %s", quote("-"+colon.Replace(name)+":"+o.about))
			}
		}
		b.WriteString(") ;;\n")
	}
	fmt.Fprintf(&b, "  esac\n"+
		"  case \"${words[CURRENT]}\" in\n"+
		"    --*) flags=(\"${flags[@]/#-/--}\"); _describe -o flag flags ;;\n"+
		"    -*) _describe -o flag flags ;;\n"+
		"    *) (( $#commands )) && _describe command commands || _files ;;\n"+
		"  esac\n}\ncompdef _%[1]s %[1]s\n", app.Name)
	return b.String()
}

func fish(app *cli.Command) string {
	nodes := walk(app, app.Name, nil)
	single := strings.NewReplacer(`\`, `\\`, "'", `\'`)
	var b strings.Builder
	fmt.Fprintf(&b, "# Completion of %[1]s for fish: %[1]s completion fish | source\n", app.Name)
	fmt.Fprintf(&b,
		"function __%[1]s_at\n  set -l at %[1]s\n  for word in (commandline -opc)[2..-1]\n    switch \"$at $word\"\n      case", app.Name)
	for _, n := range nodes[1:] {
		fmt.Fprintf(&b, " \\\n        '%s'", n.path)
	}
	b.WriteString("\n        set at \"$at $word\"\n    end\n  end\n  test \"$at\" = \"$argv\"\nend\n")
	for _, n := range nodes {
		begin := fmt.Sprintf("complete -c %s -n '__%s_at %s'", app.Name, app.Name, n.path)
		for _, c := range n.children {
			fmt.Fprintf(&b, "%s -f -a %s -d '%s'\n", begin, c.Name, single.Replace(c.Usage))
		}
		for _, o := range n.options {
			for _, name := range o.names {
				form, value := "-o "+name, ""
				if len(name) == 1 {
					form = "-s " + name
				}
				if o.value {
					value = " -r"
				}
				fmt.Fprintf(&b, "%s %s%s -d '%s'\n", begin, form, value, single.Replace(o.about))
			}
		}
	}
	return b.String()
}
