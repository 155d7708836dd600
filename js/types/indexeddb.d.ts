import type {Store} from "./index.js";

/**
 * A store in a database of the origin, for a page or a worker that is secure. A Web Lock keeps all others out while it is
 * open, and each append is a transaction with `durability: "strict"`; a browser that does not know these is refused. The
 * browser may delete what an origin stores, and a person may: call navigator.storage.persist before.
 */
export function indexedDBStore(name: string): Store;
