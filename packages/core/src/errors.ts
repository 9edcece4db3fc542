/** The fields of every Parley error: `code` for programs, `retryable` for callers, `message` for people. */
export interface ParleyErrorInit {
  /** Stable kebab-case identifier, for example `store-newer`. */
  readonly code: string;
  /** The event, its object and the remedy, in one or two sentences. */
  readonly message: string;
  /** True when the same call may succeed later without anyone changing anything. */
  readonly retryable: boolean;
  readonly cause?: unknown;
}

/** Base of all errors Parley throws on purpose; each package derives one class from it. */
export class ParleyError extends Error {
  readonly code: string;
  readonly retryable: boolean;

  constructor(init: ParleyErrorInit) {
    super(init.message, { cause: init.cause });
    this.name = new.target.name;
    this.code = init.code;
    this.retryable = init.retryable;
  }
}

/** The message of anything that was thrown, for logs and for people; never throws itself. */
export function reasonOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  if (typeof thrown === 'string') return thrown;
  try {
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    // A circle or a BigInt has no JSON.
    return Object.prototype.toString.call(thrown);
  }
}

/** The same of what `fetch` threw: it says no more than "fetch failed"; why is in its cause. */
export function fetchFailureReason(thrown: unknown): string {
  const deeper = thrown instanceof Error ? thrown.cause : undefined;
  return reasonOf(deeper ?? thrown);
}

/** Whether a call of the file system failed because there is no such file. */
export function isMissingFile(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT';
}
