import type { Answer, Entry } from './conversation.ts';
import type { Button } from './wire.ts';

/**
 * Which button below an answer was pressed, here or in another tab, or typed; null when none was. The
 * conversation itself says so, so that a reload and a restart of the gateway change nothing.
 */
export function chosenOf({ buttons, at }: Answer, entries: readonly Entry[]): Button | null {
  if (buttons.length === 0) return null;
  for (const entry of entries) {
    if (entry.kind !== 'mine' || entry.delivery.kind === 'refused') continue;
    // Until it is sent its time is that of this browser, whose clock may be wrong.
    if (entry.delivery.kind === 'sent' && entry.at < at) continue;
    const pressed = buttons.find(({ data }) => data === entry.text.trim());
    if (pressed !== undefined) return pressed;
  }
  return null;
}

/** What stands on the buttons of a conversation, by what pressing them writes. */
export function labelsOf(entries: readonly Entry[]): ReadonlyMap<string, string> {
  const buttons = entries.flatMap((entry) => (entry.kind === 'answer' ? entry.buttons : []));
  return new Map(buttons.map(({ label, data }) => [data, label]));
}
