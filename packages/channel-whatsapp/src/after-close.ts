/** What is done after a connection ended. */
export type AfterClose =
  | { readonly kind: 'retry'; readonly afterMs: number; readonly reason: string }
  /** It will not mend itself; `forget` the credentials where WhatsApp has done so. */
  | {
      readonly kind: 'give-up';
      readonly reason: string;
      readonly mend: string;
      readonly forget: boolean;
    };

/** How a connection ended. */
export interface Closing {
  /** WhatsApp's or Baileys' number for it; undefined when there is none. */
  readonly code: number | undefined;
  readonly reason: string;
  /** Endings in a row before this one, without a while of peace between them. */
  readonly failures: number;
  /** Of those, how many were a 500. */
  readonly brokenSessions: number;
}

const FIRST_BACKOFF_MS = 1_000;
const LONGEST_BACKOFF_MS = 60_000;
/** This many times 500 in a row is a broken session, not a passing trouble. */
const BROKEN_SESSION_LIMIT = 5;
const RELINK = 'Start Parley again and link it with the phone anew.';

/** Decides by the code. `random` is in [0, 1). */
export function afterClose(closing: Closing, random: number): AfterClose {
  const { code, reason, failures, brokenSessions } = closing;
  if (code === 515) return { kind: 'retry', afterMs: 0, reason: 'WhatsApp asks to connect again' };
  if (code === 500 && brokenSessions + 1 >= BROKEN_SESSION_LIMIT) {
    return giveUp('WhatsApp ends the connection with 500 again and again', UNLINK);
  }
  const final = code === undefined ? undefined : FINAL.get(code);
  if (final !== undefined) return final;
  return { kind: 'retry', afterMs: backoff(failures, random), reason };
}

const UNLINK =
  'The link is broken: remove Parley under "Linked devices" on the phone, then start Parley again.';

const FINAL: ReadonlyMap<number, AfterClose> = new Map([
  [401, giveUp('the phone, or WhatsApp, has unlinked this account', RELINK, true)],
  [403, giveUp('WhatsApp has blocked this account', 'Open WhatsApp on the phone to see why.')],
  [
    405,
    giveUp(
      'WhatsApp no longer takes this version of its client (405)',
      'Update Parley, or set channels.whatsapp.version to the version of WhatsApp Web.',
    ),
  ],
  [
    411,
    giveUp(
      'the phone does not support linked devices (411)',
      'Update WhatsApp on the phone, then start Parley again.',
    ),
  ],
  [
    440,
    giveUp(
      'another program uses the same link to WhatsApp',
      'Stop the other one, or link each with the phone on its own; then start Parley again.',
    ),
  ],
]);

function giveUp(reason: string, mend: string, forget = false): AfterClose {
  return { kind: 'give-up', reason, mend, forget };
}

/** 1 s, 2 s, 4 s … 60 s, each shortened by up to half so that many accounts do not return at once. */
function backoff(failures: number, random: number): number {
  const full = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** failures);
  return Math.round(full * (0.5 + random / 2));
}
