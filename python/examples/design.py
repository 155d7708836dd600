"""Design a mechanism, compare its worst case with what no mechanism can beat, publish it, and check that."""

import os
import tempfile

import wpm

city = {"kind": "grid", "rows": 10, "cols": 10, "p": 1}
for eps in ("1", "2", "4"):
    even, best = wpm.design(city, eps), wpm.design(city, eps, "minimax")
    print(f"eps {eps}: worst case {even.worst_case:.4f}, {best.worst_case:.4f} at best, nobody below {best.lower:.4f}")

policy = even.publish(geometry="public", base="data-independent", metadata={"title": "a city"})
proof = policy.verify()
print(f"{policy.shape[0]} places at eps {policy.epsilon}: verified {proof.verified}, worst case {proof.worst_case:.4f}")

with tempfile.TemporaryDirectory() as folder:
    policy.write(os.path.join(folder, "policy.json"))  # every client gets this file; wpm-device releases with it
    ax = wpm.plot_channel(even)
    ax.figure.savefig(os.path.join(folder, "channel.png"))
    print(sorted(os.listdir(folder)))

# Prints:
# eps 1: worst case 0.5806, 0.5454 at best, nobody below 0.5454
# eps 2: worst case 0.4603, 0.3962 at best, nobody below 0.3962
# eps 4: worst case 0.2529, 0.2013 at best, nobody below 0.2013
# 100 places at eps 4: verified True, worst case 0.2529
# ['channel.png', 'policy.json']
