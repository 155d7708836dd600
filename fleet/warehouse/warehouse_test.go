package warehouse

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/aggregate/reports"
	"github.com/wpm-go/wpm/channel"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/simulation"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

const page = "../../docs/warehouse.md"

// kv is the number of outputs: the index takes three bytes.
const kv = 70000

// testPolicy is a policy of kv outputs.
func testPolicy(t *testing.T) policy.Policy {
	t.Helper()
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		t.Fatal(err)
	}
	lo, hi := make([]uint64, kv), make([]uint64, kv)
	for j := range lo {
		lo[j], hi[j] = 8, 20
	}
	box, err := ldp.NewPolytopeFromBounds(eps, lo, hi, 20)
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Config{
		Polytope: box, Mode: policy.Projection, Inputs: 2,
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func report(id [32]byte, index uint32) string {
	return fmt.Sprintf("77706d31%x%02x%02x%02x%02x", id, byte(index), byte(index>>8), byte(index>>16), byte(index>>24))
}

func zipped(t *testing.T, texts ...string) string {
	t.Helper()
	var b bytes.Buffer
	for _, text := range texts { // a member each
		z := gzip.NewWriter(&b)
		if _, err := z.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// shards writes text and gzip with every verdict into the folder shards.
func shards(t *testing.T, dir string, p policy.Policy) {
	t.Helper()
	id, foreign := p.ID(), sha256.Sum256([]byte("another"))
	random := rand.New(rand.NewPCG(1, 2))
	text := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(report(id, uint32(random.IntN(100)*random.IntN(kv/100))) + "\n")
		}
		return b.String()
	}
	good := report(id, 7)
	odd := []string{
		"", " \t ", "  " + good + "\t\r", good + "\r", "nothing", good[:79], good + "0", strings.ToUpper(good),
		" " + good + " x",
		report(foreign, 1), report(foreign, 1<<20-1), report(foreign, 1<<20), report(id, kv-1), report(id, kv),
		report(id, 1<<20-1), report(id, 1<<20),
		report(id, 1<<24), report([32]byte{}, 0), report([32]byte{}, 1), "77706d32" + good[8:], good[:40] + "g" + good[41:],
		`"` + good + `"`, `"open`, good + `\`, `\N`, `\\`, "NULL", good + ",1", strings.Repeat("z", 5000),
		good + strings.Repeat(" ", 4016), good + strings.Repeat(" ", 4017),
		"\xff\xfe", good + "\u00a0", "\x1b[0m", "\v" + good, "#" + good, "\ufeff" + good, good + "\x01", good + "\x01x",
		"\x01" + good, "\x01", "\x00",
		good + "\r" + good, good + "\r\r", "\r\r" + good, strings.Repeat(" ", 4096), strings.Repeat(" ", 4097),
		strings.Repeat("z", 3_000_000),
		`\.`, "wpm-simulation-1",
	}
	for b := range 256 {
		if b != '\n' {
			odd = append(odd, good+string([]byte{byte(b)}))
		}
	}
	write(t, dir, "shards/e/a.txt", text(3000)+strings.Join(odd, "\n")+"\n"+text(20))
	write(t, dir, "shards/e/b.txt.gz", zipped(t, text(2000), "", strings.Join(odd, "\n")+"\n", text(500)))
	write(t, dir, "shards/e/c.txt", strings.TrimSuffix(text(10), "\n")) // the last line has no end
	write(t, dir, "shards/e/d.txt", "")
	write(t, dir, "shards/e/e f.txt", "\ufeff"+good+"\n"+good+"\n")
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// counted counts the shards as wpm count does.
func counted(t *testing.T, dir string, p policy.Policy) aggregate.Counts {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "shards", "e", "*"))
	if err != nil {
		t.Fatal(err)
	}
	n, err := aggregate.NewCounter(p)
	if err != nil {
		t.Fatal(err)
	}
	r := reports.Reader{Magic: "wpm1", Size: policy.ReportSize,
		Open: func(name string) (io.ReadCloser, error) { return os.Open(name) }}
	c, err := r.Count(context.Background(), n, files, "e")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// answer is what a warehouse says.
type answer struct {
	Reports []uint64
	Refused map[string]uint64
}

func want(c aggregate.Counts) answer {
	a := answer{c.Reports, map[string]uint64{}}
	for _, v := range aggregate.Reasons() {
		if c.Refused[v] > 0 {
			a.Refused[v.String()] = c.Refused[v]
		}
	}
	return a
}

// read reads both tables, as CSV with a header. The counts go through the reader of wpm aggregate -counts.
func read(t *testing.T, counts, refused string, outputs int) answer {
	t.Helper()
	labels := make([]string, outputs)
	for j := range labels {
		labels[j] = strconv.Itoa(j)
	}
	c, table, err := reports.ReadCounts(strings.NewReader(counts), "counts.csv", labels)
	if err != nil || !table {
		t.Fatalf("%v, %.200q", err, counts)
	}
	a := answer{c.Reports, map[string]uint64{}}
	rows, err := csv.NewReader(strings.NewReader(refused)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		if a.Refused[row[0]], err = strconv.ParseUint(row[1], 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// filled fills in what a user writes by hand.
func filled(block, epoch string, p policy.Policy) string {
	id := p.ID()
	return strings.NewReplacer(":'id'", fmt.Sprintf("'%x'", id), ":outputs", strconv.Itoa(p.Outputs()), ":'epoch'", "'"+epoch+"'").
		Replace(block)
}

func openDuckDB(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func do(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	if _, err := db.Exec(query); err != nil {
		t.Fatalf("%v\n%s", err, query)
	}
}

// byDuckDB counts the shards in a folder, which it makes the current one, by the page's SQL.
func byDuckDB(t *testing.T, dir string, p policy.Policy) answer {
	t.Helper()
	t.Chdir(dir)
	blocks, db := sqlBlocks(t), openDuckDB(t)
	if out, err := exec.Command("bash", "-c", blocks["plain"]).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, query := range []string{blocks["policy"], blocks["duckdb"], blocks["group"], blocks["verdicts"],
		"COPY (" + blocks["counts"] + ") TO 'counts.csv' (HEADER)",
		"COPY (" + strings.TrimSuffix(strings.TrimSpace(blocks["refused"]), ";") + ") TO 'refused.csv' (HEADER)"} {
		do(t, db, filled(query, "e", p))
	}
	return read(t, text(t, "counts.csv"), text(t, "refused.csv"), p.Outputs())
}

// TestDuckDB: the page's SQL gives the counts and the refused lines of wpm count.
func TestDuckDB(t *testing.T) {
	need(t, "bash", "gzip", "tr", "cut")
	p, dir := testPolicy(t), t.TempDir()
	shards(t, dir, p)
	got := byDuckDB(t, dir, p)
	if d := cmp.Diff(want(counted(t, dir, p)), got); d != "" {
		t.Error(d)
	}
}

// TestDuckDBCodes: reports of sets of places are counted by the same SQL, and parts of the shards, merged, are the same.
func TestDuckDBCodes(t *testing.T) {
	need(t, "bash", "gzip", "tr", "cut")
	p, dir := codesPolicy(t), t.TempDir()
	var sum aggregate.Sum
	for n := range 3 {
		var b bytes.Buffer
		cfg := simulation.Config{Policy: p, Devices: 2000, Atoms: 1, Seed: uint64(1 + n)}
		if err := simulation.Run(context.Background(), cfg, &b); err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitN(b.String(), "\n", 2) // without the mark
		write(t, filepath.Join(dir, strconv.Itoa(n)), "shards/e/"+strconv.Itoa(n), lines[1])
		write(t, dir, "shards/e/"+strconv.Itoa(n), lines[1])
		if err := sum.Add(counted(t, filepath.Join(dir, strconv.Itoa(n)), p)); err != nil {
			t.Fatal(err)
		}
	}
	got := byDuckDB(t, dir, p)
	merged, once := want(sum.Counts()), want(counted(t, dir, p))
	if d := cmp.Diff(once, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(once, merged); d != "" {
		t.Error(d)
	}
	total := uint64(0)
	for _, n := range got.Reports {
		total += n
	}
	if total != 6000 {
		t.Errorf("%d reports, want 6000", total)
	}
}

// codesPolicy is a policy with codes for a grid of 6 x 6.
func codesPolicy(t *testing.T) policy.Policy {
	t.Helper()
	eps, err := ldp.ParseEpsilon("2")
	if err != nil {
		t.Fatal(err)
	}
	c, err := cost.NewGrid(6, 6, 1)
	if err != nil {
		t.Fatal(err)
	}
	d, err := wpm.NewCodes(context.Background(), channel.Problem{Cost: c, Epsilon: eps, Devices: 500_000})
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Publish(context.Background(), policy.Config{
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent},
	})
	if err != nil || !p.HasCodes() {
		t.Fatalf("codes: %v, %v", p.HasCodes(), err)
	}
	return p
}

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// sqlBlocks reads the page, also from another folder.
func sqlBlocks(t *testing.T) map[string]string {
	t.Helper()
	return numtest.Blocks(t, filepath.Join(home, page))
}

var home, _ = os.Getwd()

// TestDuckDBTraps pins what DuckDB does with shards as they are. If this fails because DuckDB got better, the page can
// say less.
func TestDuckDBTraps(t *testing.T) {
	p, dir := testPolicy(t), t.TempDir()
	var b strings.Builder
	random := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		b.WriteString(report(p.ID(), uint32(random.IntN(kv))) + "\n")
	}
	whole := zipped(t, b.String())
	bad := []byte(whole)
	bad[len(bad)-8] ^= 1
	good := report(p.ID(), 1)
	load := strings.NewReplacer("epoch, line", "line", "'epoch': 'VARCHAR', ", "", "plain/*/*", "plain/*").Replace(sqlBlocks(t)["duckdb"])
	asIs := strings.Replace(load, ", compression = 'none'", ", strict_mode = false", 1)
	latin1 := strings.Replace(asIs, "header", "encoding = 'latin-1', header", 1)
	if asIs == load || latin1 == asIs {
		t.Fatal(load)
	}
	for n, c := range []struct {
		name, file, text, load string
		least, most            int
	}{
		{"half an archive", "a.gz", whole[:len(whole)/2], asIs, 1000, 4999},
		{"a wrong checksum", "a.gz", string(bad), asIs, 5000, 5000},
		{"a carriage return", "a", good + "\r" + good + "\n", asIs, 2, 2},
		{"what follows the delimiter", "a", good + "\x01x\n", asIs, 1, 1},
		{"UTF-8", "a", good + "\n\u00e9\n", asIs, 1, 1},
		{"not UTF-8", "a", good + "\n\xff\n", asIs, -1, -1},
		{"Latin-1", "a", good + "\n\xff\n", latin1, 1, 1},
		{"not Latin-1", "a", good + "\n\x80\n", latin1, -1, -1},
	} {
		folder := filepath.Join(dir, strconv.Itoa(n))
		write(t, folder, c.file, c.text)
		db := openDuckDB(t)
		do(t, db, strings.ReplaceAll(c.load, "plain/", folder+"/"))
		got := -1
		err := db.QueryRow("SELECT count(*) FROM raw WHERE length(line) = 80").Scan(&got)
		if (err != nil) != (c.most < 0) || got < c.least || got > c.most {
			t.Errorf("%s: %d reports, %v", c.name, got, err)
		}
	}
}

// cluster is a server of the test's own, for an unprivileged user, which listens on a socket in its folder alone.
type cluster struct {
	dir  string
	user *syscall.Credential
}

// demanded says that what is absent is an error: .ci/run sets it.
var demanded = os.Getenv("WPM_FLEET") != ""

// need skips a test without these programs.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			if demanded {
				t.Fatal(err)
			}
			t.Skipf("%v; of PostgreSQL, Debian's packages are postgresql and postgresql-client", err)
		}
	}
}

func startPostgres(t *testing.T) cluster {
	t.Helper()
	need(t, "initdb", "pg_ctl", "postgres", "psql", "bash", "gzip", "tr", "cut")
	dir, err := os.MkdirTemp("", "wpm-pg") // short: the name of a socket has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	c := cluster{dir: dir}
	if os.Getuid() == 0 { // the server refuses to run as root
		c.user = &syscall.Credential{Uid: 65534, Gid: 65534}
		if err := os.Chown(dir, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	c.run(t, "", "initdb", "-D", "data", "-U", "wpm", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	c.run(t, "", "pg_ctl", "-D", "data", "-w", "-s", "-l", "log", "-o", "-k "+dir+" -c listen_addresses='' -c fsync=off",
		"start")
	t.Cleanup(func() { c.run(t, "", "pg_ctl", "-D", "data", "-m", "immediate", "-w", "-s", "stop") })
	return c
}

func (c cluster) command(stdin string, args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Stdin = c.dir, strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "PGHOST="+c.dir, "PGUSER=wpm", "PGDATABASE=postgres", "HOME="+c.dir)
	if c.user != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.user}
	}
	return cmd
}

func (c cluster) run(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	cmd := c.command(stdin, args...)
	out, err := os.CreateTemp(t.TempDir(), "out") // no pipe: the server, which keeps it open, would make Wait wait
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var errs bytes.Buffer
	cmd.Stdout = out
	if args[0] == "pg_ctl" {
		cmd.Stderr = out
	} else {
		cmd.Stderr = &errs
	}
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(args, " "), err, text(t, out.Name()), errs.String())
	}
	return text(t, out.Name())
}

// TestPostgres: the page's SQL and its loading give the counts and the refused lines of wpm count, and an archive that
// breaks off ends the loading.
func TestPostgres(t *testing.T) {
	c := startPostgres(t)
	p := testPolicy(t)
	shards(t, c.dir, p)
	blocks := sqlBlocks(t)
	psql := []string{"psql", "-qX", "-v", "ON_ERROR_STOP=1"}
	c.run(t, blocks["postgres"], psql...)
	c.run(t, "", "bash", "-c", blocks["plain"]+blocks["load"])
	csvOf := func(query string) string { return c.run(t, query, append(psql, "--csv")...) }
	of := func(epoch string) answer {
		return read(t, csvOf(filled(blocks["counts"], epoch, p)+";"), csvOf(filled(blocks["refused"], epoch, p)), kv)
	}
	c.run(t, filled(blocks["policy"], "e", p)+blocks["group"]+blocks["verdicts"], psql...)
	once := want(counted(t, c.dir, p))
	if d := cmp.Diff(once, of("e")); d != "" {
		t.Error(d)
	}

	// The next month, by the same blocks; a report of it, and another by the same token.
	if err := os.RemoveAll(filepath.Join(c.dir, "shards", "e")); err != nil {
		t.Fatal(err)
	}
	write(t, c.dir, "shards/f/a", report(p.ID(), 7)+"\n"+report(p.ID(), 8)+"\nnothing\n")
	c.run(t, blocks["postgres"], psql...)
	c.run(t, "", "bash", "-c", blocks["plain"]+"rm -r plain/e\n"+blocks["load"])
	c.run(t, blocks["inbox"]+blocks["inbox"], psql...)
	for _, in := range [][3]string{{"f", "anna", "7"}, {"f", "anna", "9"}, {"f", "bob", "9"}, {"f", "bob", "9"}, {"g", "anna", "9"}} {
		index, err := strconv.ParseUint(in[2], 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		c.run(t, blocks["receive"], append(psql, "-v", "epoch="+in[0], "-v", "token="+in[1], "-v", "line="+report(p.ID(), uint32(index)))...)
	}
	c.run(t, filled(blocks["policy"], "f", p)+blocks["group"]+blocks["verdicts"], psql...)
	if d := cmp.Diff(once, of("e")); d != "" {
		t.Errorf("the first month: %s", d)
	}
	two := answer{make([]uint64, kv), map[string]uint64{"malformed": 1}}
	two.Reports[7], two.Reports[8], two.Reports[9] = 2, 1, 1
	if d := cmp.Diff(two, of("f")); d != "" {
		t.Errorf("the second month: %s", d)
	}
	none := answer{make([]uint64, kv), map[string]uint64{"other-policy": 1}}
	if d := cmp.Diff(none, of("g")); d != "" {
		t.Errorf("an epoch without a policy: %s", d)
	}
}

// TestPlain: an archive that breaks off, or whose checksum is wrong, ends the page's script.
func TestPlain(t *testing.T) {
	need(t, "bash", "gzip", "tr", "cut")
	whole := zipped(t, strings.Repeat(report([32]byte{1}, 5)+"\n", 5000))
	for name, text := range map[string]string{"cut": whole[:len(whole)-1],
		"sum": whole[:len(whole)-8] + "1234" + whole[len(whole)-4:]} {
		dir := t.TempDir()
		write(t, dir, "shards/e/a", text)
		write(t, dir, "shards/e/b", "")
		cmd := exec.Command("bash", "-c", sqlBlocks(t)["plain"])
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err == nil {
			t.Errorf("%s: %s", name, out)
		}
	}
}
