package ledger

import (
	"encoding/hex"
	"regexp"
	"strings"

	"github.com/wpm-go/wpm/lab/vectors/internal/cases"
)

type found struct {
	Kind    string   `json:"kind"`
	Bytes   *string  `json:"bytes,omitempty"`
	Entries []string `json:"entries,omitempty"`
}

type lockIn struct {
	Op           string            `json:"op"`
	Name         string            `json:"name"`
	Found        found             `json:"found"`
	KernelLocked bool              `json:"kernel_locked"`
	KernelLocks  bool              `json:"kernel_locks"`
	Boot         string            `json:"boot"`
	Namespace    string            `json:"namespace"`
	Processes    map[string]string `json:"processes"`
}

type lockOut struct {
	Verdict string `json:"verdict"`
}

var (
	lockForm  = regexp.MustCompile(`^wpm-lock-1 [0-9a-f-]{1,36}( (-|[0-9]{1,20})){3}\n$`)
	entryForm = regexp.MustCompile(`^([0-9a-f-]{1,36})_(-|[0-9]{1,20})_(-|[0-9]{1,20})_(-|[0-9]{1,20})$`)
)

// begins reports whether a text is a lock, or a beginning of one, by trying what may follow.
func begins(text string) bool {
	const rest = "wpm-lock-1 0 0 0 0\n"
	if strings.HasPrefix(rest[:11], text) || lockForm.MatchString(text) {
		return true
	}
	for n := range 4 {
		for _, word := range []string{"0", ""} {
			if lockForm.MatchString(text + word + strings.Repeat(" 0", n) + "\n") {
				return true
			}
		}
	}
	return false
}

// judge is the table of docs/spec/ledger.md.
func judge(in lockIn) string {
	if strings.HasSuffix(strings.ToLower(in.Name), ".lock") {
		return "refused"
	}
	switch in.Found.Kind {
	case "absent":
		return "free"
	case "file":
		b := ""
		if in.Found.Bytes != nil {
			raw, _ := hex.DecodeString(*in.Found.Bytes)
			b = string(raw)
		}
		switch {
		case !begins(b):
			return "refused"
		case in.KernelLocks && !in.KernelLocked:
			return "take-over"
		}
		return "locked"
	case "folder":
		if len(in.Found.Entries) != 1 {
			return "locked"
		}
		m := entryForm.FindStringSubmatch(in.Found.Entries[0])
		if m == nil || m[1] == "-" || m[2] == "-" || m[3] == "-" || m[4] == "-" || m[1] != in.Boot || m[2] != in.Namespace {
			return "locked"
		}
		if start, there := in.Processes[m[3]]; there && (start == "unknown" || start == m[4]) {
			return "locked"
		}
		return "take-over"
	}
	return "refused"
}

// locks adds what is found at the name of a lock, and what may be done with it.
func locks(s *cases.Set) {
	const boot, other, ns = "6a1f0c52-93d4-4be8-9a07-d2c81e5b7f30", "0b9d2e71-5c38-4f6a-8e14-7fa3c6d09b25", "4026531836"
	ask := func(f found, processes map[string]string, change func(in *lockIn)) {
		in := lockIn{Op: "lock", Name: "ledger", Found: f, Boot: boot, Namespace: ns, Processes: processes}
		if in.Processes == nil {
			in.Processes = map[string]string{}
		}
		if change != nil {
			change(&in)
		}
		s.Valid(in, lockOut{judge(in)}, "lock")
	}
	kernel := func(in *lockIn) { in.KernelLocks = true }
	held := func(in *lockIn) { in.KernelLocks, in.KernelLocked = true, true }
	file := func(text string) found { b := hex.EncodeToString([]byte(text)); return found{Kind: "file", Bytes: &b} }

	for _, change := range []func(in *lockIn){nil, kernel} {
		for _, kind := range []string{"absent", "other", "folder", "file"} {
			ask(found{Kind: kind}, nil, change)
		}
	}
	const line = "wpm-lock-1 " + boot + " " + ns + " 4711 123456\n"
	for _, change := range []func(in *lockIn){nil, kernel, held} {
		for _, text := range []string{line, "", "wpm-lock-1 - - 4711 -\n", "wpm-lock-1 " + other + " 1 1 1\n", line[:30],
			"a stranger\n"} {
			ask(file(text), map[string]string{"4711": "123456"}, change)
		}
	}
	for _, n := range []int{1, 10, 11, 12, 46, 47, 48, 49, 57, 58, 59, 62, 63, 64, 69} {
		ask(file(line[:n]), nil, kernel)
	}
	digits := strings.Repeat("9", 20)
	for _, text := range []string{
		"\n", " ", "x", "wpm-lock-2", "wpm-lock-1\n", "wpm-lock-1 \n", "wpm-lock-1x", "WPM-LOCK-1 ", "wpm-lock-1  ",
		line + "\n", line + "x", line[:len(line)-1] + " ",
		line[:len(line)-1] + "\r\n", line[:len(line)-1] + "x\n", line[:len(line)-1] + " 5\n", "wpm-lock-1 " + boot + "\n",
		"wpm-lock-1 " + boot + " 1 2\n",
		"wpm-lock-1 " + strings.ToUpper(boot) + " 1 2 3\n", "wpm-lock-1 " + boot + "0 1 2 3\n", "wpm-lock-1 " + boot + "0",
		"wpm-lock-1 0 " + digits + " 2 3\n",
		"wpm-lock-1 0 " + digits + "9 2 3\n", "wpm-lock-1 0 1 2 " + digits, "wpm-lock-1 0 1 2 " + digits + "9",
		"wpm-lock-1 0 -1 2 3\n", "wpm-lock-1 0 1 -- 3\n",
		"wpm-lock-1 0 1 a 3\n", "wpm-lock-1 0 1 -", "wpm-lock-1 0 1 2 -", "wpm-lock-1 0 1  3\n", "\x00", "wpm-lock-1 \x00",
		"\xff", "wpm-ledger-1 ", "[[package]]\n",
		"wpm-lock-1 0 1 2 3\nwpm-lock-1 0 1 2 3\n", strings.Repeat("wpm-lock-1 ", 30), "wpm-lock-1\t0 1 2 3\n",
		"wpm-lock-1 - - - -\n", "wpm-lock-1 0 1 2 3\n",
	} {
		ask(file(text), nil, kernel)
	}

	entry := func(words ...string) found { return found{Kind: "folder", Entries: []string{strings.Join(words, "_")}} }
	mine := entry(boot, ns, "4711", "123456")
	for _, change := range []func(in *lockIn){nil, kernel} {
		ask(mine, nil, change)
		ask(mine, map[string]string{"4711": "123456"}, change)
		ask(mine, map[string]string{"4711": "123457"}, change)
		ask(mine, map[string]string{"4711": "unknown"}, change)
	}
	ask(mine, map[string]string{"4712": "123456", "471": "123456", "47110": "1"}, nil)
	ask(mine, map[string]string{"4711": "1234567"}, nil)
	ask(mine, map[string]string{"4711": "12345"}, nil)
	for _, f := range []found{
		entry(other, ns, "4711", "123456"), entry(boot, "4026531837", "4711", "123456"), entry("-", ns, "4711", "123456"),
		entry(boot, "-", "4711", "123456"), entry(boot, ns, "-", "123456"), entry(boot, ns, "4711", "-"), entry("-", "-",
			"4711", "-"),
		entry(boot, ns, "4711"), entry(boot, ns, "4711", "123456", ""), entry(boot, ns, "4711", "123456", "1"), entry("",
			ns, "4711", "123456"),
		entry(boot, ns, "4711", "123456 "), entry(boot, ns, "4711", "+123456"), entry(boot, ns, "4711", "12x"), entry(boot,
			ns, "", "123456"),
		entry("owner"), entry(""), entry(strings.ToUpper(boot), ns, "4711", "123456"), entry(boot, ns, "4711",
			strings.Repeat("9", 21)),
		entry("wpm-lock-1 " + boot + " " + ns + " 4711 123456"), entry(boot+"\n", ns, "4711", "123456"), entry(boot, ns,
			"4711", "123456\n"),
		{Kind: "folder", Entries: []string{boot + "_" + ns + "_4711_123456", boot + "_" + ns + "_4712_123456"}},
		{Kind: "folder", Entries: []string{boot + "_" + ns + "_4711_123456", "x"}},
		{Kind: "folder", Entries: []string{".DS_Store", boot + "_" + ns + "_4711_123456"}},
	} {
		ask(f, nil, nil)
	}
	unknown := func(in *lockIn) { in.Boot, in.Namespace = "-", "-" }
	ask(mine, nil, unknown)
	ask(entry("-", "-", "4711", "-"), nil, unknown)
	ask(entry("-", "-", "4711", "123456"), nil, unknown)
	ask(file(""), nil, unknown)
	ask(found{Kind: "absent"}, nil, unknown)
	for _, name := range []string{"a.lock", ".lock", "A.LOCK", "a.Lock", "a.lock.lock", "lock", "a.locks", "a.lock ",
		"alock", "a.lock.txt", "a.lock\n"} {
		for _, f := range []found{{Kind: "absent"}, file("")} {
			ask(f, nil, func(in *lockIn) { in.Name, in.KernelLocks = name, true })
		}
	}
}
