import type { WebFile, WebReceipt } from '@parley/channels/web';
import type { DeliveryState } from './conversation.ts';
import type { FileStore } from './unsent-files.ts';

/** Sends messages to the gateway in order, each until it is accepted or permanently refused. */
export interface Sender {
  send(message: UnsentMessage): void;
  /** Sends immediately, ahead of queued messages; for `/stop` and approvals. */
  overtake(message: UnsentMessage): void;
  /** Ends the current pause early because the gateway is back. */
  retryNow(): void;
}

/**
 * Called when the state of a message changes; `at` is the time that the gateway recorded for it.
 */
export type DeliveryListener = (id: string, delivery: DeliveryState, at?: number) => void;

/** External dependencies of the sender. */
export interface SenderDeps {
  readonly base: string;
  /** `fetch` with this browser's session. */
  readonly request: (path: string, init: RequestInit) => Promise<Response>;
  /** Posts a form and reports how much of it has been sent. */
  readonly upload: (
    path: string,
    form: FormData,
    onProgress: (sent: number) => void,
  ) => Promise<Response>;
  readonly files: Pick<FileStore, 'of'>;
  /** Calls `task` after `ms`. */
  readonly pause: (task: () => void, ms: number) => void;
  readonly listener: DeliveryListener;
}

type SendAttempt =
  | { readonly delivery: DeliveryState; readonly at?: number; readonly hasReplaced?: boolean }
  | 'again'
  | 'signed-out';

/**
 * The first pause after a failure, in ms; each further pause is twice as long, up to the maximum.
 */
const FIRST_PAUSE_MS = 300;
const MAX_PAUSE_MS = 5_000;
/**
 * A request without an answer for this long (ms) counts as failed; it is harmless to send it again.
 */
const TIMEOUT_MS = 20_000;

/**
 * Creates a sender. Sending a message again with the same id is harmless (D01), so every uncertain
 * result leads to another attempt.
 */
export function createSender(deps: SenderDeps): Sender {
  const queue: UnsentMessage[] = [];
  const waiting = new Set<() => void>();
  let running = false;

  async function deliver(message: UnsentMessage): Promise<void> {
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
      const attempt = await postMessage(deps, message);
      if (typeof attempt === 'object') {
        deps.listener(message.id, attempt.delivery, attempt.at);
        return;
      }
      deps.listener(message.id, { kind: 'sending', late: true });
      await new Promise<void>((resolve) => {
        const resume = (): void => {
          waiting.delete(resume);
          resolve();
        };
        waiting.add(resume);
        // Without a session, retrying is pointless, so the page asks the person to sign in.
        if (attempt === 'again') deps.pause(resume, pause);
      });
    }
  }

  async function work(): Promise<void> {
    if (running) return;
    running = true;
    for (let next = queue[0]; next; next = queue[0]) {
      await deliver(next);
      queue.shift();
    }
    running = false;
  }

  return {
    send(message) {
      queue.push(message);
      work();
    },
    overtake: (message) => {
      deliver(message);
    },
    retryNow() {
      for (const resume of [...waiting]) resume();
    },
  };
}

async function postMessage(deps: SenderDeps, message: UnsentMessage): Promise<SendAttempt> {
  const { base, request } = deps;
  const { id, text, replaces, quotes, chat = 'main', files } = message;
  const path = `${base}/messages?chat=${chat}`;
  try {
    if (files !== undefined) return addReplaceNote(await postFiles(deps, message, path), message);
    const response = await request(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id, text, replaces, quotes }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return addReplaceNote(
      toSendAttempt(response.status, await response.json().catch(() => ({}))),
      message,
    );
  } catch {
    return 'again';
  }
}

/** Marks a message that was meant to replace another one but did not. */
function addReplaceNote(attempt: SendAttempt, { replaces }: UnsentMessage): SendAttempt {
  if (typeof attempt !== 'object' || attempt.delivery.kind !== 'sent') return attempt;
  if (replaces === undefined || attempt.hasReplaced) return attempt;
  return { ...attempt, delivery: { ...attempt.delivery, isNew: true } };
}

const LOST = 'Its files are no longer in this browser. Add them again.';

/**
 * Sends a message and its files in one request, so that they arrive either completely or not at
 * all.
 */
async function postFiles(
  { upload, files, listener }: SenderDeps,
  { id, text, replaces }: UnsentMessage,
  path: string,
): Promise<SendAttempt> {
  const kept = await files.of(id);
  if (kept.length === 0) return { delivery: { kind: 'refused', reason: LOST } };
  const form = new FormData();
  form.set('message', JSON.stringify({ id, text, replaces }));
  for (const file of kept) form.append('file', file, file.name);
  const response = await upload(path, form, (sent) =>
    listener(id, { kind: 'sending', late: false, sent }),
  );
  return toSendAttempt(response.status, await response.json().catch(() => ({})));
}

/** Interprets the gateway's answer to a message. */
export function toSendAttempt(
  status: number,
  body: Partial<WebReceipt & { error: string }>,
): SendAttempt {
  const { outcome, at, error } = body;
  if (status === 401) return 'signed-out';
  // Both overload and shutdown are temporary.
  if (status >= 500 || status === 408 || status === 429) return 'again';
  if (status >= 400) {
    const reason = error ?? `The gateway refused the message (${status}).`;
    return { delivery: { kind: 'refused', reason } };
  }
  if (outcome?.kind === 'refused' || outcome?.kind === 'ignored') {
    return { delivery: { kind: 'refused', reason: `Not accepted: ${outcome.reason}.` } };
  }
  const delivery = {
    kind: 'sent',
    // A command followed by text, such as `/new plan a picnic`, is shown as a message.
    outcome: outcome?.kind === 'command' && outcome.continues !== true ? 'command' : null,
  } as const;
  const hasReplaced = outcome?.kind !== 'accepted' || (outcome.replaced ?? []).length > 0;
  return { delivery, hasReplaced, ...(at !== undefined && { at }) };
}

/** A message that the gateway has not confirmed yet. */
export interface UnsentMessage {
  readonly id: string;
  readonly text: string;
  readonly at: number;
  /** The chat that contains the message; absent for the first chat. */
  readonly chat?: string | undefined;
  /** Descriptions of the message's files; the file store contains their bytes. */
  readonly files?: readonly WebFile[] | undefined;
  /** The id of the last message, which this message replaces; its files are kept. */
  readonly replaces?: string | undefined;
  /** The id of the entry to which `/rewind` returns. */
  readonly quotes?: string | undefined;
}

/** Stores unconfirmed messages so that they survive a reload or a closed tab. */
export interface UnsentStore {
  /** All messages, oldest first. */
  all(): readonly UnsentMessage[];
  add(message: UnsentMessage): void;
  remove(id: string): void;
}

const PREFIX = 'parley.unsent.';

/**
 * Uses one key per message, so that two tabs cannot overwrite each other's messages. Never throws:
 * if the browser's storage is full, the message is not stored.
 */
export function createUnsentStore(storage: Storage): UnsentStore {
  return {
    all() {
      const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '');
      return keys
        .filter((key) => key.startsWith(PREFIX))
        .flatMap((key) => parseUnsentMessage(storage.getItem(key)) ?? [])
        .sort((a, b) => a.at - b.at);
    },
    add(message) {
      try {
        storage.setItem(PREFIX + message.id, JSON.stringify(message));
      } catch {
        // The message exceeds the browser's quota (5 MB). It is still sent, but it would not
        // survive a reload.
      }
    },
    remove: (id) => storage.removeItem(PREFIX + id),
  };
}

function parseUnsentMessage(json: string | null): UnsentMessage | null {
  try {
    const { id, text, at, chat, files, replaces, quotes } = JSON.parse(json ?? 'null') ?? {};
    const sound = typeof id === 'string' && typeof text === 'string' && typeof at === 'number';
    return sound ? { id, text, at, chat, files, replaces, quotes } : null;
  } catch {
    return null;
  }
}
