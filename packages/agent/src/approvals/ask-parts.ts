import { setImmediate } from 'node:timers/promises';
import type { ReplyRoute } from '@parley/contracts';
import { renderInSteps } from '@parley/markup';
import type { NewPart } from '@parley/store';

/** More messages nobody reads before they press. */
const MOST_PARTS = 30;

/**
 * A question as parts of the outbox; the buttons stand below the last. Pressing one is as typing its
 * command. Several are numbered, so that a missing one is missed; null where there would be too many.
 */
export async function questionParts(
  markdown: string,
  route: ReplyRoute,
  code: string,
): Promise<readonly NewPart[] | null> {
  const parts = await noticeParts(markdown, route, { ...route.target, numbered: true });
  if (parts.length > MOST_PARTS) return null;
  const buttons = [
    { label: 'Approve', data: `/approve ${code}` },
    { label: 'Deny', data: `/deny ${code}` },
  ];
  return parts.map((part, at) => (at === parts.length - 1 ? { ...part, buttons } : part));
}

/** Words for people as parts of the outbox. */
export async function noticeParts(
  markdown: string,
  route: ReplyRoute,
  target: ReplyRoute['target'] = route.target,
): Promise<readonly NewPart[]> {
  const bodies = await renderInSteps(markdown, target, setImmediate);
  return bodies.map((body) => ({ route, body }));
}
