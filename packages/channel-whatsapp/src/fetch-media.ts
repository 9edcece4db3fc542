import { createDecipheriv, createHash } from 'node:crypto';
import { ChannelError } from '@parley/contracts';
import { DEFAULT_ORIGIN, getMediaKeys } from '@whiskeysockets/baileys';
import { mediaAddress } from './media-address.ts';
import type { MediaRef } from './media-ref.ts';

/** Bytes of the proof at the end of a sealed file; the hash in the message proves more. */
const MAC_BYTES = 10;
/** A sealed file is longer than what is in it by the proof and at most one block of padding. */
const SEAL_BYTES = MAC_BYTES + 16;
const LONGEST_WAY = 3;
/** Answers that mean "no longer there"; 403 is that of an address that has expired. */
const GONE = new Set([403, 404, 410]);

/** What fetching needs beside the reference. */
export interface FetchTerms {
  /** The account's server; see `mediaAddress`. */
  readonly server: string;
  /** In bytes; nothing beyond is read. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** The sealed bytes, or that WhatsApp has thrown them away. */
export type Sealed =
  | { readonly kind: 'sealed'; readonly bytes: Uint8Array }
  | { readonly kind: 'gone' };

/**
 * Fetches a sealed file. Done here, because Baileys asks any address that a message names, follows
 * wherever it leads, and reads as much as there is.
 * @throws ChannelError
 */
export async function fetchSealed(address: string, terms: FetchTerms): Promise<Sealed> {
  let next = address;
  for (let steps = 0; steps < LONGEST_WAY; steps += 1) {
    const url = mediaAddress(next, terms.server);
    if (url === undefined) throw refused('its address is not one of WhatsApp');
    const response = await ask(url, terms.signal);
    const onwards = response.headers.get('location');
    if (response.status < 300 || response.status >= 400 || onwards === null) {
      return read(response, terms);
    }
    await response.body?.cancel();
    next = URL.canParse(onwards, url.href) ? new URL(onwards, url.href).href : '';
  }
  throw refused('its address leads from one place to the next');
}

/**
 * Opens a sealed file; Baileys would open one that was changed on its way as well.
 * @throws ChannelError
 */
export async function unseal(ref: MediaRef, sealed: Uint8Array): Promise<Uint8Array> {
  const { iv, cipherKey } = await getMediaKeys(Buffer.from(ref.key, 'base64'), ref.kind);
  const plain = open(sealed.subarray(0, -MAC_BYTES), cipherKey, iv);
  const hash = createHash('sha256').update(plain).digest('base64');
  if (hash !== ref.hash) throw changed();
  if (ref.size !== undefined && ref.size !== plain.length) throw changed();
  return plain;
}

async function ask(url: URL, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url.href, {
      signal,
      redirect: 'manual',
      headers: { origin: DEFAULT_ORIGIN },
    });
  } catch (thrown) {
    throw unreached(thrown);
  }
}

async function read(response: Response, { limit }: FetchTerms): Promise<Sealed> {
  const { status, body } = response;
  if (!response.ok || body === null) {
    await body?.cancel();
    if (GONE.has(status)) return { kind: 'gone' };
    if (status >= 500 || status === 429) throw unreached(`it answers ${status}`);
    throw refused(`WhatsApp answers ${status}`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.length;
      if (size > limit + SEAL_BYTES) throw tooLarge(limit);
      chunks.push(chunk);
    }
  } catch (thrown) {
    throw thrown instanceof ChannelError ? thrown : unreached(thrown);
  }
  return { kind: 'sealed', bytes: Buffer.concat(chunks) };
}

function open(ciphertext: Uint8Array, key: Uint8Array, iv: Uint8Array): Buffer {
  const decipher = createDecipheriv('aes-256-cbc', key, iv);
  try {
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
  } catch {
    throw changed();
  }
}

/** For the one who sent it: it is more than is taken. `limit` in bytes. */
export function tooLarge(limit: number): ChannelError {
  return refused(`it is larger than ${Math.floor(limit / 1024)} KiB`);
}

/** The file is not taken, now or later. */
export function refused(why: string): ChannelError {
  return new ChannelError({ kind: 'refused' }, `A file from WhatsApp is not fetched: ${why}.`);
}

function changed(): ChannelError {
  return refused('it is not the one that was sent');
}

function unreached(thrown: unknown): ChannelError {
  const why = typeof thrown === 'string' ? `: ${thrown}` : '';
  const words = `WhatsApp's file server was not reached${why}; it is tried again.`;
  return new ChannelError({ kind: 'transient' }, words, thrown);
}
