import type { Clock } from '@parley/contracts';
import { render } from '@parley/markup';
import type { NewPart, PairingRequest, Store } from '@parley/store';
import { typedCode } from './one-time-code.ts';
import { pairText, WELCOME } from './pairing-notices.ts';
import { partsOf } from './parts-of.ts';

const TERMINAL = { dialect: 'plain', maxLength: 10_000, unit: 'utf16' } as const;

/** What somebody who was let in is told, in their own chat. */
export function welcomeParts({ route }: PairingRequest): readonly NewPart[] {
  return partsOf(WELCOME, route);
}

/**
 * `/pair` without a chat: lets the sender of `argument` in, or lists who waits when it is empty.
 * Gives back plain text. A running gateway tells the person within seconds, another one when it starts.
 */
export async function pair(
  store: Pick<Store, 'pairing'>,
  argument: string,
  clock: Clock,
): Promise<{ readonly ok: boolean; readonly text: string }> {
  const code = typedCode(argument);
  const now = clock();
  const approved = code === null ? null : await store.pairing.approve(code, welcomeParts, now);
  const pending = await store.pairing.pending(now);
  const ok = approved !== null || argument === '';
  const plain = render(pairText(argument, { approved, pending }), TERMINAL);
  return { ok, text: plain.map((part) => part.plain).join('\n') };
}
