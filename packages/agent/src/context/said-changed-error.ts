import { isDeepStrictEqual } from 'node:util';
import { ParleyError } from '@parley/contracts';
import type { NumberedEntry } from '@parley/store';

/** Somebody has had something forgotten while it was summed up: the summary must not bring it back (G15). */
export class SaidChangedError extends ParleyError {
  constructor() {
    super({
      code: 'said-changed',
      message: 'What was said has changed while it was summed up; it is summed up anew later.',
      retryable: true,
    });
  }
}

/** Throws SaidChangedError where the words of entries are not what they were. */
export function checkUnchanged(
  read: readonly NumberedEntry[],
  now: readonly NumberedEntry[],
): void {
  const words = (entries: readonly NumberedEntry[]) => entries.map(({ content }) => content);
  if (!isDeepStrictEqual(words(read), words(now))) throw new SaidChangedError();
}
