import { fieldsOf } from '../chat/wire.ts';
import { listOf, numberOf } from '../prompt/read-prompt.ts';
import { request } from '../session.ts';
import type { DeadKind } from './read-dead.ts';

/** What is to be done with letters; `evenTwice` is a person's word that one may arrive twice. */
export interface LetterWish {
  readonly action: 'replay' | 'drop';
  /** One letter, or all of these kinds. */
  readonly letters: number | readonly DeadKind[];
  readonly evenTwice: boolean;
}

/** What came of it, in words for people. */
export interface LetterNews {
  readonly words: string;
  readonly isTrouble: boolean;
}

/** Has the gateway do it, as often as it takes. Never rejects. */
export async function settleLetters({
  action,
  letters,
  evenTwice,
}: LetterWish): Promise<LetterNews> {
  let done = 0;
  let after: number | null = 0;
  while (after !== null) {
    const which = typeof letters === 'number' ? [letters] : { after, kinds: letters };
    const answer = await ask({ action, letters: which, evenTwice });
    if (typeof answer === 'string') return { words: answer, isTrouble: true };
    const { results, next } = fieldsOf(answer);
    const kinds = listOf(results).map((result) => fieldsOf(result).result);
    done += kinds.filter((kind) => kind === DONE[action]).length;
    after = typeof next === 'number' ? numberOf(next) : null;
  }
  if (done === 0) return { words: 'That was settled already.', isTrouble: false };
  const what = done === 1 ? 'It is' : `${done} are`;
  const words = action === 'replay' ? `${what} on the way again.` : `${what} dropped.`;
  return { words, isTrouble: false };
}

const DONE = { replay: 'replayed', drop: 'dropped' } as const;

/** The answer, or why there is none. */
async function ask(order: object): Promise<unknown> {
  try {
    const body = JSON.stringify(order);
    const response = await request('/api/dead', { method: 'POST', body });
    if (response.ok) return await response.json();
    if (response.status === 401) return 'This browser is not signed in any more.';
    return 'The gateway could not do it; its log tells why.';
  } catch {
    return 'The gateway does not answer. It may be starting again.';
  }
}
