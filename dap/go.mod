module github.com/wpm-go/wpm/dap

go 1.26.0

require (
	github.com/cloudflare/circl v1.6.5
	github.com/wpm-go/wpm v0.0.0
)

require (
	golang.org/x/crypto v0.54.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace github.com/wpm-go/wpm => ../
