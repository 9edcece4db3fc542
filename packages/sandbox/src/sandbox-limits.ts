/** Bounds of one command. */
export interface SandboxLimits {
  /** In ms; then everything in the sandbox is killed. */
  readonly timeoutMs: number;
  /** What is kept of the output, in characters; half of it from the start, half from the end. */
  readonly outputCharacters: number;
  /** Processes at a time. */
  readonly processes: number;
  /** Of all processes together, and again of each, in bytes. */
  readonly memoryBytes: number;
  /** All that is written to the workspace together, also what is deleted again, in bytes. */
  readonly diskBytes: number;
  /** Largest single file that a command can write, in bytes. */
  readonly fileBytes: number;
  /** Of the private /tmp and of /dev/shm, in bytes each; they are memory. */
  readonly scratchBytes: number;
}

/** One minute, 30,000 characters, 128 processes, 1 GB of memory, 2 GB written in files up to 1 GB, 256 MB of /tmp. */
export const DEFAULT_LIMITS: SandboxLimits = {
  timeoutMs: 60_000,
  outputCharacters: 30_000,
  processes: 128,
  memoryBytes: 1_000_000_000,
  diskBytes: 2_000_000_000,
  fileBytes: 1_000_000_000,
  scratchBytes: 256_000_000,
};
