module github.com/wpm-go/wpm/python/lib

go 1.26.0

require github.com/wpm-go/wpm v0.0.0

require (
	github.com/campoy/embedmd v1.0.0 // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
	github.com/sbinet/npyio v0.6.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace github.com/wpm-go/wpm => ../..
