import type {Store} from "./index.js";

/**
 * A store in a file, for node. Its lock is the folder of that name with `.lock` at the end, which Go's store honours. It
 * outlives a program that ends without closing the ledger, and must then be removed by hand. The file has no other hard
 * link.
 */
export function fileStore(path: string): Store;
