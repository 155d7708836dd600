/** Lines of `wpm solve KIND` in, lines out, one for each. Shapes and units: `wpm solve KIND -help`. */
export type Solve = (kind: string, lines: readonly object[]) => Promise<Record<string, unknown>[]>;

/**
 * Compiles the program that js/wasm/build.js makes, from its bytes or from their gzip. Each call of the result runs it
 * anew: nothing is kept between calls, and it has no source of random bytes.
 */
export function solver(program: Uint8Array): Promise<Solve>;
