import type {Store} from "./index.js";

/**
 * A store in a file, for node. Its lock is the folder of that name with `.lock` at the end, which Go's store honours. A
 * program that is ended by a signal, or ends without closing the ledger, gives the lock up, unless bytes are just being
 * written. What a kill leaves is taken over on Linux, where /proc tells that its owner has ended; elsewhere a person
 * must remove it. The file has no other hard link, and a name that does not end in `.lock`.
 */
export function fileStore(path: string): Store;
