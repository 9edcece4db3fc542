/**
 * What the gateway tells the page, checked as it comes in. Written by `WebEvent` in the web channel;
 * what this page does not know, from a newer gateway say, is left out.
 */
export type ChatEvent =
  | Inbound
  | Part
  | { readonly type: 'typing' }
  /** `html` is the answer so far; it replaces what was shown for this turn. */
  | { readonly type: 'stream'; readonly turnId: string; readonly html: string }
  | { readonly type: 'stream-end'; readonly turnId: string };

/** What the person wrote. `outcome` is null while the message waits for its turn. Times in ms. */
export interface Inbound {
  readonly type: 'inbound';
  readonly id: string;
  readonly text: string;
  readonly at: number;
  readonly outcome: string | null;
}

/** A finished part of an answer; `turnId` is null for what no model wrote. */
export interface Part {
  readonly type: 'part';
  readonly id: string;
  readonly turnId: string | null;
  readonly html: string;
  /** What can be pressed below it. */
  readonly buttons: readonly Button[];
  readonly at: number;
}

/** A choice; pressing it is as writing `data`. */
export interface Button {
  readonly label: string;
  readonly data: string;
}

/** One slash command, for the menu of the composer. */
export interface CommandHint {
  readonly name: string;
  readonly summary: string;
}

/** What the gateway answers when the page asks for the past. */
export interface History {
  readonly entries: readonly (Inbound | Part)[];
  readonly commands: readonly CommandHint[];
}

/** Reads one event; null for anything this page cannot show. */
export function readEvent(data: unknown): ChatEvent | null {
  const fields = fieldsOf(data);
  const turnId = textOf(fields.turnId);
  const text = textOf(fields.text);
  switch (fields.type) {
    case 'typing':
      return { type: 'typing' };
    case 'stream':
      return turnId === null || text === null ? null : { type: 'stream', turnId, html: text };
    case 'stream-end':
      return turnId === null ? null : { type: 'stream-end', turnId };
    default:
      return readEntry(data);
  }
}

/** Reads the history; entries this page cannot show are left out. */
export function readHistory(data: unknown): History {
  const { entries, commands } = fieldsOf(data);
  return {
    entries: listOf(entries).flatMap((entry) => readEntry(entry) ?? []),
    commands: listOf(commands).flatMap((command) => {
      const { name, summary } = fieldsOf(command);
      return typeof name === 'string' && typeof summary === 'string' ? { name, summary } : [];
    }),
  };
}

function readEntry(data: unknown): Inbound | Part | null {
  const { type, messageId, partId, turnId, text, buttons, at, outcome } = fieldsOf(data);
  if (typeof text !== 'string' || typeof at !== 'number') return null;
  if (type === 'inbound' && typeof messageId === 'string') {
    return { type, id: messageId, text, at, outcome: textOf(outcome) };
  }
  if (type === 'part' && typeof partId === 'string') {
    return {
      type,
      id: partId,
      turnId: textOf(turnId),
      html: text,
      buttons: readButtons(buttons),
      at,
    };
  }
  return null;
}

function readButtons(data: unknown): readonly Button[] {
  return listOf(data).flatMap((button) => {
    const { label, data } = fieldsOf(button);
    return typeof label === 'string' && typeof data === 'string' ? { label, data } : [];
  });
}

/** The fields of an object, none of anything else. */
export function fieldsOf(data: unknown): Readonly<Record<string, unknown>> {
  return typeof data === 'object' && data !== null ? { ...data } : {};
}

function listOf(data: unknown): readonly unknown[] {
  return Array.isArray(data) ? data : [];
}

function textOf(data: unknown): string | null {
  return typeof data === 'string' ? data : null;
}
