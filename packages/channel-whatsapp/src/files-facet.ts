import type { FilesFacet } from '@parley/channels';
import { ChannelError } from '@parley/contracts';
import type { proto, WAMessage, WASocket } from '@whiskeysockets/baileys';
import { fetchSealed, refused, tooLarge, unseal } from './fetch-media.ts';
import { MediaRef } from './media-ref.ts';

/** Pictures, films and recordings end at 100 MB in WhatsApp's apps; larger documents stay on the phone. */
const LARGEST_BYTES = 100 * 1024 * 1024;

/** What fetching files needs. */
export interface FilesDeps {
  /** The open connection; undefined while there is none. */
  readonly socket: () => WASocket | undefined;
  /** The account's server; see `mediaAddress`. */
  readonly server: string;
  /** How long the phone may take to send a file once more, in ms. */
  readonly patienceMs: number;
}

/** Fetches what people sent. What WhatsApp has thrown away, the phone is asked to send once more. */
export function filesFacet(deps: FilesDeps): FilesFacet {
  return {
    maxBytes: LARGEST_BYTES,
    async fetch(text, limit, signal) {
      const ref = readRef(text);
      if (ref.size !== undefined && ref.size > limit) throw tooLarge(limit);
      const terms = { server: deps.server, limit, signal };
      const first = await fetchSealed(ref.address, terms);
      if (first.kind === 'sealed') return unseal(ref, first.bytes);
      const second = await fetchSealed(await askAgain(deps, ref, signal), terms);
      if (second.kind === 'gone') throw gone();
      return unseal(ref, second.bytes);
    },
  };
}

function readRef(text: string): MediaRef {
  try {
    return MediaRef.parse(JSON.parse(text));
  } catch {
    throw refused('its reference is not one of this channel');
  }
}

/** Gives back the address where the phone has put the file now. */
async function askAgain(
  { socket: open, patienceMs }: FilesDeps,
  ref: MediaRef,
  signal: AbortSignal,
): Promise<string> {
  const socket = open();
  if (socket === undefined) {
    const words = 'WhatsApp is not connected, and a file has to be asked for; it is tried again.';
    throw new ChannelError({ kind: 'transient' }, words);
  }
  const message = messageOf(ref);
  try {
    await Promise.race([socket.updateMediaMessage(message), timeout(patienceMs, signal)]);
  } catch (thrown) {
    throw gone(thrown);
  }
  const path = message.message?.[`${ref.kind}Message`]?.directPath;
  if (!path) throw gone();
  return `https://${new URL(ref.address).host}${path}`;
}

/** As much of the message as the phone has to be told. */
function messageOf({ kind, key, chat, id, writer }: MediaRef): WAMessage {
  const content: proto.IMessage = {
    [`${kind}Message`]: { mediaKey: Buffer.from(key, 'base64') },
  };
  const participant = writer === undefined ? {} : { participant: writer };
  return { key: { remoteJid: chat, id, fromMe: false, ...participant }, message: content };
}

function timeout(ms: number, signal: AbortSignal): Promise<never> {
  const over = AbortSignal.any([signal, AbortSignal.timeout(ms)]);
  return new Promise((_, reject) => {
    if (over.aborted) reject(over.reason);
    over.addEventListener('abort', () => reject(over.reason), { once: true });
  });
}

function gone(cause?: unknown): ChannelError {
  const words =
    'WhatsApp no longer keeps this file, and the phone did not send it once more. Ask for it again.';
  return new ChannelError({ kind: 'gone' }, words, cause);
}
