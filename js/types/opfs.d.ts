import type {Store} from "./index.js";

/**
 * A store in a file of the origin's private file system, for a worker of a secure page. One page or worker has it at a
 * time. The browser may delete what an origin stores, and a person may: call navigator.storage.persist before.
 */
export function opfsStore(name: string): Store;
