/** What bounds the past that a model is shown. */
export interface HistoryLimits {
  /** Entries that are read at most. */
  readonly entries: number;
  /** What the past may cost, however much room the model has. */
  readonly tokens: number;
  /** What it gets at least, also where the prompt seems to leave no room; nothing when absent. */
  readonly least?: number;
}

/** What one request holds besides the past, in tokens. */
export interface RequestSize {
  /** System prompt, tools, and what the turn has done so far. */
  readonly fixed: number;
  /** The newest message, with the context before it. */
  readonly now: number;
}

/** How much of a request each may take, in tokens. */
export interface HistoryBudget {
  readonly history: number;
  readonly now: number;
}

/** Largest room that is kept free for an answer, in tokens. */
const LONGEST_ANSWER = 4_096;

/**
 * Divides what a model can take: first the prompt and room for an answer, then the newest message, and
 * the past gets what is left, up to its own limit. A prompt that leaves no room is not the fault of the
 * person who writes, so that the newest message always has a quarter.
 */
export function historyBudget(
  contextTokens: number,
  size: RequestSize,
  limits: Pick<HistoryLimits, 'tokens' | 'least'>,
): HistoryBudget {
  if (contextTokens === Number.POSITIVE_INFINITY) {
    return { now: contextTokens, history: limits.tokens };
  }
  const answer = Math.min(LONGEST_ANSWER, Math.floor(contextTokens / 8));
  const room = contextTokens - answer - size.fixed;
  const now = Math.max(room, Math.floor(contextTokens / 4));
  // A short message must not move the beginning of the past about.
  const left = room - Math.min(Math.max(size.now, Math.floor(contextTokens / 16)), now);
  return { now, history: Math.max(limits.least ?? 0, Math.min(limits.tokens, left)) };
}

/**
 * What the results of tools may cost of what is left beside `fixed` (without them) and the newest message,
 * in tokens: a turn that has read too much must not be refused for it.
 */
export function roundsBudget(contextTokens: number, { fixed, now }: RequestSize): number {
  const answer = Math.min(LONGEST_ANSWER, contextTokens / 8);
  return Math.max(0, Math.floor(contextTokens - answer - fixed - Math.min(now, contextTokens / 4)));
}

/** Largest summary, in tokens. */
const LONGEST_SUMMARY = 1_500;

/** What a summary may cost, in tokens: it must leave room for what was said since. */
export function summaryBudget(contextTokens: number): number {
  return Math.min(LONGEST_SUMMARY, Math.floor(contextTokens / 8));
}

/** How full the past is. */
export interface HistoryFill {
  /** Of all there is since the last summary, that summary included; in tokens. */
  readonly tokens: number;
  readonly entries: number;
  readonly budget: number;
}

/** Share of its budget from which on the older part of a past is summed up. */
const FULL = 0.7;

/** Whether it is time to sum up the older part. */
export function isFull({ tokens, entries, budget }: HistoryFill, limits: HistoryLimits): boolean {
  return tokens > FULL * budget || entries > FULL * limits.entries;
}
