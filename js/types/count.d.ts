import type {Policy} from "./index.js";

/** A file that was read. */
export interface Shard {
  name: string;
  /** Of its bytes as they are stored, in hexadecimal. */
  sha256: string;
  bytes: number;
  lines: number;
}

/** Why a line does not count. */
export type Reason = "malformed" | "other-policy" | "no-such-output" | "never-released";

/** How many reports there are of each output of a policy. */
export interface Counts {
  /** The ID of the policy. */
  policy: string;
  /** Empty where none is stated. */
  epoch: string;
  reports: number[];
  refused: Record<Reason, number>;
  /** All that were read and are not blank. */
  lines: number;
  /** By the bytes of their names. */
  shards: Shard[];
  /** What a reader should know: a file that may have been cut off, reports that are simulated. Not part of the text. */
  notices: string[];
}

export interface ReportFile {
  name: string;
  bytes: Uint8Array;
}

export interface CountOptions {
  epoch?: string;
}

/** Reads a report, from its 40 bytes or its 80 hexadecimal digits. Throws Refused. */
export function readReport(record: Uint8Array | string): {policy: string, index: number};

/**
 * Counts the reports of a policy in files: one a line, or binary; also gzipped. A line that is no report of the policy
 * is counted by its reason. Rejects with Refused for a file that cannot be read to its end, a copy of another, and
 * simulated reports beside others. A report that was sent twice cannot be told here.
 */
export function countReports(policy: Policy, files: readonly ReportFile[], options?: CountOptions): Promise<Counts>;

/** The file of counts, wpm-counts-1, which `wpm` reads. Rejects with Refused for what are no counts. */
export function encodeCounts(counts: Counts): Promise<Uint8Array>;

/** Reads the bytes that encodeCounts writes for the same counts, and no others. Rejects with Refused. */
export function decodeCounts(bytes: Uint8Array): Promise<Counts>;

/** The counts of all parts together. Throws Refused for two policies, two epochs, and a shard that is there twice. */
export function mergeCounts(parts: readonly Counts[]): Counts;
