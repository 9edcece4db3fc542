import { createDecipheriv, createHash } from 'node:crypto';
import { type FilesCapability, readWithLimit } from '@parley/channels';
import { ChannelError } from '@parley/core';
import {
  DEFAULT_ORIGIN,
  getMediaKeys,
  type proto,
  type WAMessage,
  type WASocket,
} from '@whiskeysockets/baileys';
import { type MediaRef, parseMediaRef } from './media-ref.ts';
import { isLoopbackUrl } from './settings.ts';

/**
 * The maximum file size, in bytes. WhatsApp's apps limit pictures, videos and recordings to 100 MB;
 * larger documents are not downloaded.
 */
const LARGEST_BYTES = 100 * 1024 * 1024;

interface FilesDeps {
  /** The open connection; undefined if there is none. */
  readonly socket: () => WASocket | undefined;
  /** The account's server; see `toMediaUrl`. */
  readonly server: string;
  /** How long (ms) to wait for the phone to upload a file again. */
  readonly patienceMs: number;
}

/** If WhatsApp has deleted a file, the phone is asked to upload it again. */
export function createFiles(deps: FilesDeps): FilesCapability {
  return {
    maxBytes: LARGEST_BYTES,
    async fetch(text, limit, signal) {
      const ref = parseMediaRef(text);
      if (ref === undefined)
        throw createFileRefusedError('its reference does not belong to this channel');
      if (ref.size !== undefined && ref.size > limit) throw createFileTooLargeError(limit);
      const terms = { server: deps.server, limit, signal };
      const first = await fetchEncryptedFile(ref.address, terms);
      if (first.kind === 'encrypted') return decryptFile(ref, first.bytes);
      const second = await fetchEncryptedFile(await requestReupload(deps, ref, signal), terms);
      if (second.kind === 'gone') throw createFileGoneError();
      return decryptFile(ref, second.bytes);
    },
  };
}

/** Returns the URL to which the phone has uploaded the file again. */
async function requestReupload(
  { socket: open, patienceMs }: FilesDeps,
  ref: MediaRef,
  signal: AbortSignal,
): Promise<string> {
  const socket = open();
  if (socket === undefined) {
    const text =
      'WhatsApp is not connected, and the phone has to be asked for this file. Parley will try again.';
    throw new ChannelError({ kind: 'transient' }, text);
  }
  const message = createReuploadMessage(ref);
  try {
    await Promise.race([socket.updateMediaMessage(message), rejectAfter(patienceMs, signal)]);
  } catch (thrown) {
    throw createFileGoneError(thrown);
  }
  const path = message.message?.[`${ref.kind}Message`]?.directPath;
  if (!path) throw createFileGoneError();
  return `https://${new URL(ref.address).host}${path}`;
}

/** What the phone needs to know about the message. */
function createReuploadMessage({ kind, key, chat, id, writer, fromMe }: MediaRef): WAMessage {
  const content: proto.IMessage = {
    [`${kind}Message`]: { mediaKey: Buffer.from(key, 'base64') },
  };
  const participant = writer === undefined ? {} : { participant: writer };
  return {
    key: { remoteJid: chat, id, fromMe: fromMe === true, ...participant },
    message: content,
  };
}

function rejectAfter(ms: number, signal: AbortSignal): Promise<never> {
  const over = AbortSignal.any([signal, AbortSignal.timeout(ms)]);
  return new Promise((_, reject) => {
    if (over.aborted) reject(over.reason);
    over.addEventListener('abort', () => reject(over.reason), { once: true });
  });
}

function createFileGoneError(cause?: unknown): ChannelError {
  const message =
    'WhatsApp no longer has this file, and the phone did not upload it again. Ask the sender to send it again.';
  return new ChannelError({ kind: 'gone' }, message, cause);
}

/**
 * The length of the MAC at the end of an encrypted file, in bytes. The MAC is not checked, because
 * the hash in the message is a stronger proof.
 */
const MAC_BYTES = 10;
/** An encrypted file is longer than its content by the MAC and at most one block of padding. */
const OVERHEAD_BYTES = MAC_BYTES + 16;
const MAX_REDIRECTS = 3;
/** Statuses that mean that the file no longer exists; 403 means that the URL has expired. */
const GONE = new Set([403, 404, 410]);

interface FetchOptions {
  /** The account's server; see `toMediaUrl`. */
  readonly server: string;
  /** The maximum number of bytes to read. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** The encrypted bytes, or the fact that WhatsApp has deleted the file. */
type EncryptedFile =
  | { readonly kind: 'encrypted'; readonly bytes: Uint8Array }
  | { readonly kind: 'gone' };

/**
 * Downloads an encrypted file. Baileys would request any URL in a message, follow all redirects,
 * and read without a limit.
 * @throws ChannelError
 */
async function fetchEncryptedFile(address: string, terms: FetchOptions): Promise<EncryptedFile> {
  let next = address;
  for (let steps = 0; steps < MAX_REDIRECTS; steps += 1) {
    const url = toMediaUrl(next, terms.server);
    if (url === undefined) throw createFileRefusedError('its address is not on a WhatsApp host');
    const response = await requestFile(url, terms.signal);
    const onwards = response.headers.get('location');
    if (response.status < 300 || response.status >= 400 || onwards === null) {
      return readEncryptedFile(response, terms);
    }
    await response.body?.cancel();
    next = URL.canParse(onwards, url.href) ? new URL(onwards, url.href).href : '';
  }
  throw createFileRefusedError('its URL redirects too often');
}

/**
 * Decrypts a file and verifies it. Baileys would accept a file that was modified in transit.
 * @throws ChannelError
 */
async function decryptFile(ref: MediaRef, encrypted: Uint8Array): Promise<Uint8Array> {
  const { iv, cipherKey } = await getMediaKeys(Buffer.from(ref.key, 'base64'), ref.kind);
  const plain = decryptBytes(encrypted.subarray(0, -MAC_BYTES), cipherKey, iv);
  const hash = createHash('sha256').update(plain).digest('base64');
  if (hash !== ref.hash) throw createFileChangedError();
  if (ref.size !== undefined && ref.size !== plain.length) throw createFileChangedError();
  return plain;
}

async function requestFile(url: URL, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url.href, {
      signal,
      redirect: 'manual',
      headers: { origin: DEFAULT_ORIGIN },
    });
  } catch (thrown) {
    throw createUnreachableError(thrown);
  }
}

async function readEncryptedFile(
  response: Response,
  { limit }: FetchOptions,
): Promise<EncryptedFile> {
  const { status, body } = response;
  if (!response.ok || body === null) {
    await body?.cancel();
    if (GONE.has(status)) return { kind: 'gone' };
    if (status >= 500 || status === 429) throw createUnreachableError(`it answers ${status}`);
    throw createFileRefusedError(`WhatsApp answers ${status}`);
  }
  const bytes = await readWithLimit(body, limit + OVERHEAD_BYTES).catch((thrown: unknown) => {
    throw createUnreachableError(thrown);
  });
  if (bytes === undefined) throw createFileTooLargeError(limit);
  return { kind: 'encrypted', bytes };
}

function decryptBytes(ciphertext: Uint8Array, key: Uint8Array, iv: Uint8Array): Buffer {
  const decipher = createDecipheriv('aes-256-cbc', key, iv);
  try {
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
  } catch {
    throw createFileChangedError();
  }
}

function createFileTooLargeError(limit: number): ChannelError {
  return createFileRefusedError(`it is larger than ${Math.floor(limit / 1024)} KiB`);
}

function createFileRefusedError(why: string): ChannelError {
  return new ChannelError({ kind: 'refused' }, `A file from WhatsApp was not downloaded: ${why}.`);
}

function createFileChangedError(): ChannelError {
  return createFileRefusedError('its hash does not match the message');
}

function createUnreachableError(thrown: unknown): ChannelError {
  const why = typeof thrown === 'string' ? `: ${thrown}` : '';
  const text = `WhatsApp's file server could not be reached${why}; Parley will try again.`;
  return new ChannelError({ kind: 'transient' }, text, thrown);
}

/** The domain of the file servers, for example `mmg.whatsapp.net`. */
const OWN_HOSTS = '.whatsapp.net';

/**
 * Returns the URL of a file if it may be requested. The sender chooses the URL and could otherwise
 * make the bot send requests inside its own network. Only https and WhatsApp's own hosts are
 * allowed. Loopback is allowed as well if the account's `server` is on loopback, as in tests.
 */
export function toMediaUrl(address: string, server: string): URL | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.protocol !== 'https:' || url.username !== '' || url.password !== '') return undefined;
  if (isLoopbackUrl(address)) return isLoopbackUrl(server) ? url : undefined;
  const isOwn = url.hostname.endsWith(OWN_HOSTS) && url.port === '';
  return isOwn ? url : undefined;
}
