import { setImmediate } from 'node:timers/promises';
import type { ReplyRoute } from '@parley/contracts';
import { renderInSteps } from '@parley/markup';
import type { NewPart } from '@parley/store';

/** A question as parts of the outbox; the buttons stand below the last. Pressing one is as typing its command. */
export async function questionParts(
  markdown: string,
  route: ReplyRoute,
  code: string,
): Promise<readonly NewPart[]> {
  const parts = await noticeParts(markdown, route);
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
): Promise<readonly NewPart[]> {
  const bodies = await renderInSteps(markdown, route.target, setImmediate);
  return bodies.map((body) => ({ route, body }));
}
