package main

import "github.com/wpm-go/wpm/cmd/wpm/internal/publisher"

// examples are the lines that help and manual pages show, by command. In a folder with places.csv, census.csv,
// counts.csv, truth.csv and flow.min they run in the order of the commands, see TestExamples. Those of
// release, verify and so on are in package device.
var examples = map[string][]string{
	"wpm": {
		"wpm demo",
		"wpm design -grid 20x20 -eps 2 -o policy.json",
		"wpm verify policy.json",
	},
	"wpm demo":       {"wpm demo", "wpm demo -grid 8x8 -devices 100 -o tour"},
	"wpm playground": {"wpm playground -open"},
	"wpm plan": {
		"wpm plan -grid 8x8 -eps 1,2 -devices 500,5000",
		"wpm plan -points places.csv -prior census.csv -eps 2 -target 200km",
		"wpm plan -grid 8x8 -eps 2 -target 2cells",
		"wpm plan -grid 8x8 -central 0.2 -devices 100000",
		"wpm plan -grid 8x8 -period 12 -budget 4 -devices 20000",
	},
	"wpm design": {
		publisher.Example,
		"wpm design -points places.csv -eps 1.5 -title 'trips to work' -card card.txt -o places.json",
		"wpm design -pairs places.csv -with mode=walk,car:50km -eps 4 -o trips.json",
		"wpm design -grid 20x20 -eps 4 -mode projection -o other.json",
		"wpm design -grid 20x20 -eps 4 -epochs month -period 12 -o monthly.json",
	},
	"wpm report": {"wpm report policy.json reports.txt"},
	"wpm count": {
		"wpm count -policy policy.json -epoch simulation-1 -o monday.part reports.txt",
		"wpm count -policy policy.json -epoch simulation-1 -o tuesday.part tuesday.txt",
	},
	"wpm merge": {"wpm merge -o week.part monday.part tuesday.part"},
	"wpm aggregate": {
		"wpm aggregate -map map.html policy.json reports.txt",
		"wpm aggregate -counts week.part -epoch simulation-1 policy.json",
	},
	"wpm evaluate": {"wpm evaluate policy.json truth.csv reports.txt"},
	"wpm audit": {
		"wpm audit -samples 100000 policy.json",
		"wpm audit -release -samples 1000 -inputs 0,399 policy.json",
	},
	"wpm certify": {"wpm solve -certificate transport <transport.jsonl | wpm certify -",
		"wpm flow -json -proof flow.min | wpm certify -"},
	"wpm solve": {
		`echo '{"cost":{"kind":"ring","n":4,"p":1},"mu":[1,0,0,0],"m":[0.25,0.25,0.25,0.25],"eps":1}' | wpm solve project`,
		"wpm solve -certificate transport <transport.jsonl >answers.jsonl",
	},
	"wpm solve basemeasure": {"wpm solve basemeasure <basemeasure.jsonl"},
	"wpm solve entropic":    {"wpm solve entropic <entropic.jsonl"},
	"wpm solve estimate":    {"wpm solve estimate <estimate.jsonl"},
	"wpm solve flow":        {"wpm solve flow <flow.jsonl"},
	"wpm solve hilbert":     {"wpm solve hilbert <hilbert.jsonl"},
	"wpm solve kpm":         {"wpm solve kpm <kpm.jsonl"},
	"wpm solve phi":         {"wpm solve phi <phi.jsonl"},
	"wpm solve project":     {"wpm solve -certificate project <project.jsonl"},
	"wpm solve round":       {"wpm solve round <round.jsonl"},
	"wpm solve sphere":      {"wpm solve sphere <sphere.jsonl"},
	"wpm solve transport":   {"wpm solve -certificate transport <transport.jsonl"},
	"wpm solve units":       {"wpm solve units <units.jsonl"},
	"wpm flow":              {"wpm flow flow.min"},
	"wpm sign": {
		"wpm sign -new -key publisher.key",
		"wpm sign -key publisher.key policy.json",
	},
	"wpm sphere": {
		"wpm sphere -d 63 -p 2 -eps 4",
		"wpm sphere -d 63 -eps 4 -o vectors.policy",
	},
	"wpm simulate": {"wpm simulate -devices 5000 -o reports.txt policy.json",
		"wpm simulate -devices 2000 -seed 2 -o tuesday.txt policy.json"},
	"wpm completion": {
		"source <(wpm completion bash)",
		"wpm completion zsh >_wpm",
		"wpm completion fish >wpm.fish",
	},
	"wpm man": {"wpm man -o man1", "man -l man1/wpm-design.1"},
}
