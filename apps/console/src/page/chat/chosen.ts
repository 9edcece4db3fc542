import type { Answer, Entry } from './conversation.ts';
import type { Button } from './wire.ts';

/**
 * Which button below an answer was pressed, here or in another tab, or typed; null when none was. The
 * conversation itself says so, so that a reload and a restart of the gateway change nothing.
 */
export function chosenOf(answer: Answer, entries: readonly Entry[]): Button | null {
  return pressOf(answer, entries)?.button ?? null;
}

/** What stood on the button, by the id of the message that pressing it became. */
export function labelsOf(entries: readonly Entry[]): ReadonlyMap<string, string> {
  const presses = entries.flatMap((entry) =>
    entry.kind === 'answer' ? (pressOf(entry, entries) ?? []) : [],
  );
  return new Map(presses.map(({ id, button }) => [id, button.label]));
}

interface Press {
  /** Of the message. */
  readonly id: string;
  readonly button: Button;
}

function pressOf({ buttons, at }: Answer, entries: readonly Entry[]): Press | null {
  if (buttons.length === 0) return null;
  for (const entry of entries) {
    if (entry.kind !== 'mine' || entry.delivery.kind === 'refused') continue;
    // Until it is sent its time is that of this browser, whose clock may be wrong.
    if (entry.delivery.kind === 'sent' && entry.at < at) continue;
    const button = buttons.find(({ data }) => data === entry.text.trim());
    if (button !== undefined) return { id: entry.id, button };
  }
  return null;
}
