// Package device is what runs where the private data are: the commands verify, check, release and ledger, with the
// standard library, ldp and policy alone.
//
// # The problem
//
// Whoever lets a program read private counts has to trust all of its code. A device needs little of this module: the
// form of a policy, the integers that carry the guarantee, one draw, and the ledger that pays for it. Solvers, costs,
// figures and a command-line library are for those who design and evaluate. So the commands of a device are a package
// of their own. cmd/wpm-device is that package and nothing else; cmd/wpm is the same code, and adds what a device need
// not have by a [Mechanism] of its own: a check of cost and utility, a solver in a child process, the policy of a
// codebook.
//
// # The guarantee
//
//   - verify says yes (exit status 0) only if policy.Decode and policy.Verify accept the file and the user's conditions
//     (-max-eps, -policy-id) hold. A policy of points alone says "cost: not loaded": what it claims of its utility was
//     not looked at, and no privacy rests on it.
//   - release refuses what it cannot release before a ledger is made or a debit written: another policy than asked
//     for, a projection policy without a solver. From the debit on, neither status, output length nor error depends on
//     the private bytes. One that is paid for is repeated in its epoch for nothing, also on a full disk.
//   - check reads private data, says whether a release could use them, and draws nothing. Its words are for whoever may
//     see the data.
//   - ledger reads a ledger, its hash chain included, and writes nothing. It asks for no lock, so a line that another
//     process is about to write may be missing.
//   - An output file is written whole or not at all, and never over an input or a ledger.
//
// # Commands
//
// A [Command] has flags of package flag. [Run] is a whole program of them. A program with a command line of its own
// sets the flags and calls Do.
//
// Exit status: Yes, No where a check failed or a policy was refused, Bad for bad usage or input, Some where a result
// lacks what was refused, Interrupted.
//
// # Cost
//
// verify and release take the time and memory of policy.Verify and policy.Release, and the file of the policy twice.
// The program cmd/wpm-device has at most 4 MB (linux/amd64, stripped) and no third-party module; tests hold both.
package device
