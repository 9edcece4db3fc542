import type { Question } from '../crash/words.ts';
import { createChance } from '../privacy/chance.ts';

/** The size of a comparison of bots that are killed. */
export interface KillScale {
  readonly questions: number;
  readonly kills: number;
  /** Half of the chats are direct chats, the others are threads. */
  readonly chats: number;
  /** How long people ask questions, in ms. */
  readonly askMs: number;
  /** How long the platform waits before each redelivery, in ms. */
  readonly retryMs: readonly number[];
  /**
   * A comparison is over when, for this many ms, the platform has not redelivered anything and the
   * bot has not asked the model.
   */
  readonly quietMs: number;
}

/**
 * Who asks which question at what time, and when the bots are killed; times are in ms after the
 * beginning, in order.
 */
export interface KillPlan {
  readonly questions: readonly { readonly atMs: number; readonly question: Question }[];
  readonly killsAtMs: readonly number[];
}

/** Plans questions at random times, and one kill at a random moment of each interval. */
export function planKills(scale: KillScale, seed: number): KillPlan {
  const { questions, kills, chats, askMs } = scale;
  const chance = createChance(seed);
  const times = Array.from({ length: questions }, () => chance.below(askMs));
  const asked = new Map<number, number>();
  const stretchMs = askMs / kills;
  return {
    questions: times
      .toSorted((a, b) => a - b)
      .map((atMs) => {
        const sender = 1 + chance.below(chats);
        const number = (asked.get(sender) ?? 0) + 1;
        asked.set(sender, number);
        return { atMs, question: { sender, number } };
      }),
    killsAtMs: Array.from({ length: kills }, (_, nth) =>
      Math.round(nth * stretchMs + chance.below(stretchMs)),
    ),
  };
}
