import type { Clock } from '@parley/contracts';

/** Who sends a token, as far as it can be known. */
export interface TokenSender {
  /** Address, and whether a proxy stands before it. */
  readonly name: string;
  /** A program of this machine, without a proxy; the sum of all wrong tokens does not slow it down. */
  readonly isLocal: boolean;
}

interface Tries {
  readonly count: number;
  readonly at: number;
}

/** So many wrong tokens cost nothing; each further one doubles the wait, from a second up to the longest. */
interface Patience {
  readonly free: number;
  readonly longestMs: number;
}

const ONE_SENDER: Patience = { free: 5, longestMs: 5 * 60_000 };
/** Short: it also meets people who have the token. */
const ALL_SENDERS: Patience = { free: 50, longestMs: 15_000 };
/** Without another wrong token for so long all is forgotten. In ms. */
const FORGOTTEN_AFTER_MS = 15 * 60_000;
/** Of more senders the least recent ones are forgotten; the sum is not. */
const MOST_SENDERS = 1_000;

const NONE: Tries = { count: 0, at: 0 };

/** How long the next token has to wait, in ms. */
function waitAfter({ count, at }: Tries, now: number, { free, longestMs }: Patience): number {
  if (count <= free || now - at > FORGOTTEN_AFTER_MS) return 0;
  const pause = Math.min(1_000 * 2 ** Math.min(count - free - 1, 20), longestMs);
  return Math.max(0, at + pause - now);
}

function oneMore({ count, at }: Tries, now: number): Tries {
  return { count: now - at > FORGOTTEN_AFTER_MS ? 1 : count + 1, at: now };
}

/** Slows the guessing of tokens down, for each sender and in total. While one waits nothing is compared. */
export function createWrongTokens(clock: Clock) {
  const senders = new Map<string, Tries>();
  let all = NONE;
  return {
    /** How long this sender's next token has to wait, in ms. */
    waitMs({ name, isLocal }: TokenSender): number {
      const now = clock();
      const own = waitAfter(senders.get(name) ?? NONE, now, ONE_SENDER);
      return isLocal ? own : Math.max(own, waitAfter(all, now, ALL_SENDERS));
    },
    wrong({ name }: TokenSender): void {
      const now = clock();
      const tries = oneMore(senders.get(name) ?? NONE, now);
      senders.delete(name);
      senders.set(name, tries);
      const [oldest] = senders.keys();
      if (senders.size > MOST_SENDERS && oldest !== undefined) senders.delete(oldest);
      all = oneMore(all, now);
    },
    right: ({ name }: TokenSender): void => void senders.delete(name),
    /** How many senders are remembered. */
    size: (): number => senders.size,
  };
}
