package manual

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"
)

// Page is a manual page.
type Page struct {
	Name string // of its file, as wpm-solve-flow.1
	Text []byte // for troff with the macros of man(7)
}

// Pages returns a manual page for app and each command below it; exit says what their exit statuses mean.
func Pages(app *cli.Command, version, exit string) (pages []Page) {
	nodes := walk(app, app.Name, nil)
	for _, n := range nodes {
		var b strings.Builder
		title := strings.ReplaceAll(n.path, " ", "-")
		fmt.Fprintf(&b, ".TH %s 1 \"\" \"%s\" \"%s manual\"\n", strings.ToUpper(roff(title)),
			roff(app.Name+" "+version), app.Name)
		fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B %s\n", roff(title), roff(n.command.Usage), roff(n.path))
		switch {
		case len(n.children) > 0:
			b.WriteString("[options] COMMAND ...\n")
		default:
			fmt.Fprintf(&b, "[options] %s\n", roff(n.command.ArgsUsage))
		}
		about, examples, _ := strings.Cut(n.command.Description, "Examples:\n")
		section(&b, "DESCRIPTION", about)
		if len(n.children) > 0 {
			b.WriteString(".SH COMMANDS\n")
			for _, c := range n.children {
				fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(c.Name), roff(c.Usage))
			}
		}
		b.WriteString(".SH OPTIONS\n")
		for _, o := range n.options {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(o.head), roff(o.about))
		}
		section(&b, "EXAMPLES", examples)
		fmt.Fprintf(&b, ".SH EXIT STATUS\n%s\n", roff(exit))
		if i := strings.LastIndexByte(title, '-'); i > 0 {
			fmt.Fprintf(&b, ".SH SEE ALSO\n.BR %s (1)\n", roff(title[:i]))
		}
		pages = append(pages, Page{title + ".1", []byte(b.String())})
	}
	return pages
}

// section writes a description, or nothing: what is indented stays as it is, line by line.
func section(b *strings.Builder, title, text string) {
	if text == "" {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	verbatim := false
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n")+"\n", "\n") {
		if indented := strings.HasPrefix(line, "  "); indented != verbatim {
			verbatim = indented
			b.WriteString(map[bool]string{true: ".nf\n", false: ".fi\n"}[indented])
		}
		if line != "" {
			b.WriteString(roff(line) + "\n")
		}
	}
}

// roff escapes text for troff.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
