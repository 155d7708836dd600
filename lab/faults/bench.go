package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/wpm-go/wpm/internal/parallel"
)

// A subject is a kind of release.
type subject struct {
	name    string
	program string
	policy  []string // the arguments of wpm that make the policy
	vectors bool
}

var subjects = []subject{
	{name: "wpm-device, mixture", program: "wpm-device", policy: []string{"design", "-grid", "20x20", "-eps", "2"}},
	{name: "wpm, mixture", program: "wpm", policy: []string{"design", "-grid", "20x20", "-eps", "2"}},
	{name: "wpm, projection", program: "wpm",
		policy: []string{"design", "-grid", "12x12", "-eps", "2", "-mode", "projection"}},
	{name: "wpm, codebook", program: "wpm", vectors: true,
		policy: []string{"sphere", "-d", "15", "-eps", "4", "-points", "1024"}},
}

// A resource is what is made short: by an option of prlimit, or by a file of a control group.
type resource struct {
	name       string
	option     string
	group      group
	most, unit int64
}

func resources() []resource {
	return []resource{
		{name: "threads (RLIMIT_NPROC)", option: "--nproc", most: 4096, unit: 1},
		{name: "threads (pids.max)", group: controlled("pids", "pids.max", "pids.max"), most: 4096, unit: 1},
		{name: "memory (RLIMIT_AS)", option: "--as", most: 1 << 40, unit: 1 << 17},
		{name: "memory (RLIMIT_DATA)", option: "--data", most: 1 << 40, unit: 1 << 17},
		{name: "memory (cgroup)", group: controlled("memory", "memory.limit_in_bytes", "memory.max"), most: 1 << 34, unit: 1 << 16},
		{name: "file handles (RLIMIT_NOFILE)", option: "--nofile", most: 1024, unit: 1},
		{name: "file size (RLIMIT_FSIZE)", option: "--fsize", most: 1 << 20, unit: 1},
	}
}

// A group is where control groups with a limit are made.
type group struct{ root, file string }

// controlled finds the controller in either version of control groups, or returns the zero group.
func controlled(controller, file1, file2 string) group {
	const top = "/sys/fs/cgroup"
	if b, err := os.ReadFile(top + "/cgroup.subtree_control"); err == nil {
		if strings.Contains(" "+strings.TrimSpace(string(b))+" ", " "+controller+" ") {
			return group{top, file2}
		}
		return group{}
	}
	if _, err := os.Stat(filepath.Join(top, controller, "cgroup.procs")); err == nil {
		return group{filepath.Join(top, controller), file1}
	}
	return group{}
}

// A bench has what all runs use.
type bench struct {
	dir, programs string
	runs          string       // where the folders of runs are
	run           atomic.Int64 // counts them, for names
}

func newBench(dir, programs string) (*bench, error) {
	ctx := context.Background()
	if programs == "" {
		programs = dir
		if _, err := command(ctx, "go", "build", "-o", dir, "github.com/wpm-go/wpm/cmd/wpm", "github.com/wpm-go/wpm/cmd/wpm-device"); err != nil {
			return nil, err
		}
	}
	programs, err := filepath.Abs(programs)
	if err != nil {
		return nil, err
	}
	b := &bench{dir: dir, runs: dir, programs: programs}
	for _, s := range subjects {
		path := b.file(s, "policy")
		if _, err := command(ctx, filepath.Join(programs, "wpm"), append(s.policy, "-o", path)...); err != nil {
			return nil, err
		}
		texts := counts()
		if s.vectors {
			texts = vectors()
		}
		for name, text := range texts {
			if len(text) != len(texts[usable]) {
				return nil, fmt.Errorf("%s data have %d bytes, usable data %d", name, len(text), len(texts[usable]))
			}
			check := exec.Command(filepath.Join(programs, "wpm"), "check", path, "-")
			check.Stdin = strings.NewReader(text)
			if (check.Run() == nil) != (name == usable) {
				return nil, fmt.Errorf("%s data of %s are not", name, s.name)
			}
			if err := os.WriteFile(b.file(s, name), []byte(text), 0o644); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// file is one of those that all runs of a subject read.
func (b *bench) file(s subject, name string) string {
	return filepath.Join(b.dir, strings.ReplaceAll(s.name, ", ", "-")+"-"+name)
}

const usable = "usable"

// unusable are what is wrong with data, one in turn for each pair.
var unusable = []string{"with a last line that is", "with no line that is not", "compressed and"}

// counts are data for a policy of at least 100 inputs, all of one length: 65,000 bytes.
func counts() map[string]string {
	var b strings.Builder
	for i := 0; b.Len() < 65_000-16; i++ {
		fmt.Fprintf(&b, "%d,%d\n", i%100, 1+i%7)
	}
	text := b.String() + "0," + strings.Repeat("0", 65_000-b.Len()-4) + "1\n"
	return spoilt(text)
}

// vectors are data for a codebook in 16 dimensions with at least 32 atoms.
func vectors() map[string]string {
	var b strings.Builder
	for i := range 32 {
		fmt.Fprint(&b, 1+i%3)
		for j := range 16 {
			fmt.Fprintf(&b, ",%d.%d", (i+j*j)%5, (3*i+j)%10)
		}
		b.WriteByte('\n')
	}
	return spoilt(b.String())
}

// spoilt returns the text, and others that are as long and unusable.
func spoilt(text string) map[string]string {
	last := strings.LastIndexByte(text[:len(text)-1], ',') + 1
	return map[string]string{
		usable:      text,
		unusable[0]: text[:last] + "-" + text[last+1:len(text)-1] + "\n",
		unusable[1]: strings.Map(func(r rune) rune {
			if '0' <= r && r <= '9' {
				return 'e'
			}
			return r
		}, text),
		unusable[2]: "\x1f\x8b\x08" + text[3:],
	}
}

// workers is how many runs there are at a time. Most wait: a thread that cannot be made is tried for 0.2 s.
const workers = 8

// firstUser returns the first of their user IDs: another one for each process that sweeps, far from those of persons.
func firstUser() int { return 20_000 + os.Getpid()%20_000*workers }

// try makes pairs of releases under a limit, each in random order.
func (b *bench) try(s subject, r resource, limit int64, pairs int) (row, error) {
	var results [workers]row
	var failed [workers]error
	var g parallel.Group
	for w := range workers {
		g.Go(func() {
			user, err := b.newUser(firstUser()+w, r.group, limit)
			for pair := w; err == nil && pair < pairs; pair += workers {
				results[w].pairs++
				for _, i := range rand.Perm(2) {
					data := usable
					if i == 1 {
						data = unusable[pair%len(unusable)]
					}
					var reported, paid bool
					if reported, paid, err = b.release(user, s, r, limit, data); err != nil {
						break
					}
					if reported {
						results[w].reports[i]++
					} else if paid {
						results[w].lost[i]++
					}
				}
			}
			failed[w] = errors.Join(err, user.close())
		})
	}
	g.Wait()
	all := row{limit: limit}
	for _, r := range results {
		all.add(r)
	}
	return all, errors.Join(failed[:]...)
}

// patience is how long a run may take, and how long the processes that it leaves.
const patience = time.Minute

// release makes one, in a folder of its own.
func (b *bench) release(u user, s subject, r resource, limit int64, data string) (reported, paid bool, err error) {
	dir := filepath.Join(b.runs, fmt.Sprint("run-", b.run.Add(1)))
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, u.id, u.id)); err != nil {
		return false, false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	id := strconv.Itoa(u.id)
	// The shell joins the group, is then no longer root, gets the limit, and becomes the release.
	args := []string{"-c", `[ -z "$0" ] || echo $$ >"$0" && exec "$@"`, u.procs(),
		"setpriv", "--reuid", id, "--regid", id, "--clear-groups"}
	if r.option != "" {
		args = append(args, "prlimit", fmt.Sprintf("%s=%d", r.option, limit))
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", append(args, filepath.Join(b.programs, s.program), "release",
		"-ledger", "ledger", "-budget", "4", "-epoch", "e", b.file(s, "policy"), b.file(s, data))...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
	cmd.WaitDelay = time.Second
	out, failure := cmd.Output()
	if ctx.Err() != nil {
		return false, false, fmt.Errorf("limit %d: a release still runs after %v", limit, patience)
	}
	if err := u.alone(); err != nil {
		return false, false, err
	}
	ledger, err := os.ReadFile(filepath.Join(dir, "ledger"))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return failure == nil && bytes.HasSuffix(out, []byte("\n")), bytes.Contains(ledger, []byte("\ndebit ")), err
}

// A user is a user ID with its control group, if any.
type user struct {
	id     int
	folder string
}

func (b *bench) newUser(id int, g group, limit int64) (user, error) {
	u := user{id: id}
	if g.root == "" {
		return u, u.alone()
	}
	u.folder = filepath.Join(g.root, fmt.Sprintf("wpm-faults-%d-%d", os.Getpid(), id))
	if err := os.Mkdir(u.folder, 0o755); err != nil {
		return user{}, err
	}
	err := os.WriteFile(filepath.Join(u.folder, g.file), []byte(strconv.FormatInt(limit, 10)), 0o644)
	return u, errors.Join(err, u.alone())
}

// procs is the file by which a process joins the group; empty without one.
func (u user) procs() string {
	if u.folder == "" {
		return ""
	}
	return filepath.Join(u.folder, "cgroup.procs")
}

func (u user) close() error {
	if u.folder == "" {
		return nil
	}
	return os.Remove(u.folder)
}

// alone waits until the user has no process: a solver may outlive a release that has died. It is then this process's.
func (u user) alone() error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		running, err := u.running()
		if err != nil || !running {
			return err
		}
	}
	return fmt.Errorf("user %d has processes for %v", u.id, patience)
}

func (u user) running() (bool, error) {
	processes, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		return false, err
	}
	want := fmt.Sprintf("\nUid:\t%d\t", u.id)
	running := false
	for _, path := range processes {
		if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), want) {
			running = true
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
				reap(pid)
			}
		}
	}
	return running, nil
}
