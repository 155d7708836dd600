// Package device holds the commands that run on the device with the private data: verify, check, release and ledger. It
// imports only the standard library, ldp and policy.
//
// # The problem
//
// Whoever lets a program read private counts has to trust all of its code. A device needs little of this module: the
// form of a policy, the integers that carry the guarantee, one draw, and the ledger that pays for the draw. Solvers,
// costs, figures and a command-line library are for those who design and evaluate. So the commands of a device are a
// package of their own. The program cmd/wpm-device is this package and nothing else. The program cmd/wpm uses the same
// code, with a [Mechanism] that adds what a device does not need: a check of cost and utility, a solver in a child
// process, and codebook policies.
//
// # The guarantee
//
//   - verify says yes (exit status 0) only if policy.Decode and policy.Verify accept the file and the user's conditions
//     (-max-eps, -policy-id) hold. For a policy on points it prints "cost: not loaded": the policy's claim of utility
//     is not checked, and privacy does not depend on this claim.
//   - release refuses what it cannot release before it makes a ledger or writes a debit: a policy other than the one
//     asked for, or a projection policy without a solver. From the debit on, neither status, output length nor error
//     depends on the private bytes. A release that is paid for can be repeated in its epoch at no cost, even on a full
//     disk.
//   - check reads private data, says whether a release could use them, and draws nothing. Its output is only for people
//     who may see the data.
//   - ledger reads a ledger, checks its hash chain, and writes nothing. It takes no lock, so it may miss a line that
//     another process is about to write.
//   - An output file is written whole or not at all, and never over an input or a ledger.
//
// # Commands
//
// A [Command] has flags of package flag. [Run] is a whole program of commands. A program with a command line of its own
// sets the flags and calls Do.
//
// The exit status is Yes; No if a check failed or a policy was refused; Bad for bad usage or input; Some if parts of
// the input were refused and the result lacks them; or Interrupted.
//
// # Cost
//
// verify and release take the time and memory of policy.Verify and policy.Release, and hold the policy file twice. The
// program cmd/wpm-device has at most 4 MB (linux/amd64, stripped) and no third-party module. Tests check both.
package device
