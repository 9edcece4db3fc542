import { createHash } from 'node:crypto';
import { type Logger, reasonOf } from '@parley/contracts';
import { z } from 'zod';
import type { PreCheck, StandingTask } from './standing-task.ts';

/** Looks at what checks name. */
export interface CheckForNews {
  /** Why it cannot look there at all, in a few words; null where it can. */
  whyNot(check: PreCheck): string | null;
  /** What it saw; throws where it could not look this time. */
  look(check: PreCheck): Promise<string>;
}

/** Whether there is something to ask the model about, and what the state file notes of it. */
export type News = {
  readonly kind: 'nothing-new' | 'new';
  readonly seen: { readonly checked?: string };
};

/** What the state file holds of a check: not what was seen, but a mark that tells it from others. */
const Noted = z.object({ checked: z.string() });

/**
 * Whether what a task looks at has changed since it was looked at last. A check that fails, or was
 * never made, is news: the model finds out why. So is everything that a person asks for by name.
 */
export async function newsOf(
  { checkForNews, log }: { readonly checkForNews?: CheckForNews; readonly log: Logger },
  { name, check }: StandingTask,
  noted: Readonly<Record<string, unknown>> = {},
  asked?: string,
): Promise<News> {
  if (check === undefined || checkForNews === undefined) return { kind: 'new', seen: {} };
  if (checkForNews.whyNot(check) !== null) return { kind: 'new', seen: {} };
  try {
    const seen = await checkForNews.look(check);
    const checked = createHash('sha256').update(seen).digest('hex').slice(0, 16);
    const before = Noted.safeParse(noted);
    const isSame = before.success && before.data.checked === checked && asked === undefined;
    return { kind: isSame ? 'nothing-new' : 'new', seen: { checked } };
  } catch (error) {
    log.warn({ task: name, reason: reasonOf(error) }, 'the check of a standing task failed');
    return { kind: 'new', seen: {} };
  }
}
