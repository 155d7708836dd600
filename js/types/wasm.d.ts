/** A cost between k inputs and kv outputs. The kinds and their units: `wpm solve project -help`. */
export type Cost =
  | {kind: "explicit", C: readonly (readonly number[])[]}
  | {kind: "ring", n: number, p?: number}
  | {kind: "grid", rows: number, cols: number, p?: number}
  | {kind: "points", x: readonly (readonly number[])[], v?: readonly (readonly number[])[], p?: number}
  | {kind: "cosine", x: readonly (readonly number[])[], v?: readonly (readonly number[])[]}
  | {kind: "greatcircle-2" | "greatcircle", x: readonly (readonly number[])[], v?: readonly (readonly number[])[], p?: number};

/** A distribution: all masses, or those of some places. */
export type Masses = readonly number[] | {index: readonly number[], weight: readonly number[]};

/** A box of distributions: its bounds, a base measure and eps, or the name of one that a line before has defined. */
export type Box =
  | {lo: readonly number[], hi: readonly number[]}
  | {m: readonly number[], eps: number}
  | {box: string};

/** What every line may have. */
export interface Common<Answer> {
  /** Comes back in the answer. */
  id?: unknown;
  /** The fields of the answer that are wanted; all, if it is left out. */
  want?: readonly Extract<keyof Answer, string>[];
}

/** A cost, or the name of one that a line before has defined. */
export interface Costly {
  cost: Cost | string;
}

export interface Potentials {
  f: number[];
  g: number[];
}

/** Bounds that are proved: lower <= optimum <= upper, and their exact values as fractions. */
export interface Proved {
  objective: number;
  lower: number;
  upper: number;
  lower_exact: string;
  upper_exact: string;
  potentials: Potentials;
  /** [input, output, mass]. */
  plan: [number, number, number][];
  seconds: number;
}

export interface ProjectAnswer extends Proved {
  /** The nearest distribution in the box. */
  q: number[];
  distance?: number;
}

export interface TransportAnswer extends Proved {
  distance?: number;
}

export interface EntropicAnswer {
  status: "converged" | "iterations" | "reg" | "cancelled";
  q: number[];
  transport: number;
  objective: number;
  upper: number;
  lower: number;
  iterations: number;
  residual: number;
  bound: number;
  potentials: Potentials;
  log_v: number[];
  reg?: number;
  seconds: number;
}

export interface PhiAnswer {
  /** The least cost of moving a unit of mass from each input into the box. */
  phi: number[];
  tau: number[];
  /** The largest. */
  f: number;
  argmax: number;
  subgradient?: number[];
  seconds: number;
}

export interface FlowAnswer {
  status: "optimal" | "infeasible" | "unbounded";
  /** A whole number of any size. */
  objective?: string;
  flow?: number[];
  potentials?: number[];
  cut?: number[];
  cycle?: [number, 1 | -1][];
  pivots: number;
  seconds: number;
}

export interface BaseMeasureAnswer {
  m: number[];
  f: number;
  lower: number;
  upper: number;
  status?: string;
  seconds: number;
  [other: string]: unknown;
}

export interface EstimateAnswer {
  estimator?: "map" | "em" | "mle" | "raw";
  /** The shares of the population; null with a reason. */
  map: number[] | null;
  reason?: string;
  raw: number[];
  models?: {length: number, roughness: number, weight: number, smooth?: boolean, even?: boolean}[];
  signal?: "none" | "weak" | "ok";
  /**
   * Distances of the truth: from the map on average, and in nine of ten cases at most, and from the guess on average, by the
   * counts and (before) without them.
   */
  map_error?: {expected: number, within90: number, guess: number, before: number};
  /** No map explains the counts: some are made up or of another policy, and map_error does not hold. */
  unexplained: boolean;
  /** What the counts know, and what they say of the guess. */
  information?: "much" | "little" | "none";
  verdict?: "confirm" | "change";
  gap?: number;
  patch?: number[];
  groups?: {of: number[], share: number[], low: number[], high: number[]};
  seconds: number;
  [other: string]: unknown;
}

/** Where a population is: a policy, or the parts that it is made of. */
export type World = {policy: string} | {cost: Cost | string, m: readonly number[], eps: string, bits?: number};

/** The lines and answers of each kind. Others have lines and answers of any form: `wpm solve KIND -help` has them. */
export interface Kinds {
  project: {line: Common<ProjectAnswer> & Costly & Box & {mu: Masses}, answer: ProjectAnswer};
  transport: {
    line: Common<TransportAnswer> & Costly & ({source: Masses, target: Masses} | {a: Masses, b: Masses}),
    answer: TransportAnswer,
  };
  entropic: {
    line: Common<EntropicAnswer> & Costly & Box &
      {mu: Masses, reg?: number, gap?: number, method?: "fast" | "paper", tol?: number, iterations?: number},
    answer: EntropicAnswer,
  };
  phi: {line: Common<PhiAnswer> & Costly & Box, answer: PhiAnswer};
  flow: {
    line: Common<FlowAnswer> &
      {nodes: number, arcs: readonly (readonly (number | "inf" | "-inf")[])[], supply: readonly number[]},
    answer: FlowAnswer,
  };
  basemeasure: {
    line: Common<BaseMeasureAnswer> & Costly & {eps: number, [other: string]: unknown},
    answer: BaseMeasureAnswer,
  };
  /** In the program wpm-estimate.wasm.gz alone. */
  estimate: {
    line: Common<EstimateAnswer> & World & {counts: readonly number[], prior?: readonly number[], groups?: boolean,
      estimator?: "map" | "em" | "mle" | "raw"},
    answer: EstimateAnswer,
  };
}

/** A line that gives a cost or a box a name, for the lines after it. */
export type Define = {define: string, id?: unknown} & ({cost: Cost} | Box);

/**
 * Answers lines of `wpm solve KIND`, one for each, in their order. Rejects with SolverError if a line is refused, and with
 * Refused for a kind that there is not. Lines with `define` have a call with types of any form.
 */
export interface Solve {
  <K extends keyof Kinds>(kind: K, lines: readonly Kinds[K]["line"][]): Promise<Kinds[K]["answer"][]>;
  (kind: string, lines: readonly object[]): Promise<Record<string, unknown>[]>;
}

/** A line that the solvers refuse. */
export class SolverError extends Error {
  constructor(what: string, line: number, answers: readonly Record<string, unknown>[]);
  /** Its number, from 0. */
  line: number;
  /** Of all lines; those that were refused have a member error. */
  answers: readonly Record<string, unknown>[];
}

/**
 * Compiles a program that js/wasm/build.js makes, from its bytes or from their gzip: wpm.wasm.gz, or the larger
 * wpm-estimate.wasm.gz, which has the kind estimate, too. Each call of the result runs it anew: nothing is kept between
 * calls, and it has no source of random bytes.
 */
export function solver(program: Uint8Array): Promise<Solve>;
