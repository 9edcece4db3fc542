import { createDecipheriv, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import {
  aesEncryptGCM,
  aesEncrypWithIV,
  type BinaryNode,
  getMediaKeys,
  hkdf,
  hmacSign,
  type MediaType,
  proto,
  sha256,
} from '@whiskeysockets/baileys';
import { listenOnLoopback, stopServer } from '../loopback.ts';
import { getTimeInSeconds, type SimulatedAccount } from './account.ts';
import type { Attachment } from './read-content.ts';
import {
  createSelfSignedCertificate,
  type SelfSignedCertificate,
} from './self-signed-certificate.ts';
import { buildNode, findChild } from './wire.ts';

/** The token required for uploads, which clients obtain with the `media_conn` query. */
export const UPLOAD_AUTH = 'double-upload';

/** The host of WhatsApp's encrypted files: HTTPS on loopback with a self-signed certificate. */
export class MediaHost {
  readonly #files = new Map<string, Buffer>();
  /** Files that phones keep after the host has deleted them. */
  readonly #onPhones = new Map<string, Buffer>();
  readonly #redirects = new Map<string, string>();
  readonly #asked: string[] = [];
  readonly #identity: SelfSignedCertificate;
  readonly #server: Server;
  readonly #onChange: () => void;
  #failures: { readonly status: number; left: number } | undefined;

  constructor(clock: () => number, onChange: () => void) {
    this.#identity = createSelfSignedCertificate(clock());
    this.#onChange = onChange;
    const { certificate: cert, privateKey: key } = this.#identity;
    this.#server = createServer({ cert, key }, (request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  /**
   * The certificate in PEM, which a client must trust, for example with
   * `tls.setDefaultCACertificates`.
   */
  get certificate(): string {
    return this.#identity.certificate;
  }

  /** `host:port`. */
  get address(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `127.0.0.1:${port}`;
  }

  async listen(): Promise<void> {
    await listenOnLoopback(this.#server, 0);
  }

  close(): Promise<void> {
    return stopServer(this.#server);
  }

  store(kind: string, sealed: Buffer): string {
    const path = `/v/${kind}/${randomBytes(12).toString('hex')}.enc`;
    this.#files.set(path, sealed);
    this.#onChange();
    return path;
  }

  read(path: string): Buffer | undefined {
    return this.#files.get(path);
  }

  /** Flips a byte of an encrypted file, as a malicious host could. */
  corrupt(path: string): void {
    const stored = this.#files.get(path);
    if (stored === undefined) throw new Error(`No file ${path}`);
    const changed = Buffer.from(stored);
    changed.writeUInt8(changed.readUInt8(0) ^ 0xff, 0);
    this.#files.set(path, changed);
  }

  /** Deletes a file, as the host does after some weeks, and optionally the phone's copy. */
  forget(path: string, { onPhone = false }: { readonly onPhone?: boolean } = {}): void {
    const stored = this.#files.get(path);
    this.#files.delete(path);
    if (stored !== undefined && !onPhone) this.#onPhones.set(path, stored);
  }

  /** Uploads a file again from the phone under a new path, if the phone has a copy. */
  putBack(path: string, kind: string): string | undefined {
    const stored = this.#files.get(path) ?? this.#onPhones.get(path);
    return stored && this.store(kind, stored);
  }

  /** Redirects requests for this path to another URL. */
  redirect(path: string, address: string): void {
    this.#redirects.set(path, address);
  }

  /** The requested paths, oldest first. */
  get asked(): readonly string[] {
    return this.#asked;
  }

  /** Answers the next requests with this status. */
  fail(status: number, times = 1): void {
    this.#failures = { status, left: times };
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', `https://${this.address}`);
    // A client that gives up aborts its request.
    const chunks = await request.toArray().catch(() => null);
    if (chunks === null) return;
    const body = Buffer.concat(chunks);
    if (this.#failures !== undefined && this.#failures.left > 0) {
      this.#failures.left -= 1;
      response.writeHead(this.#failures.status).end('{}');
    } else if (request.method === 'POST') this.#take(url, body, response);
    else this.#give(url, response);
  }

  /**
   * Accepts only uploads that are named after the hash of their content and come from clients with
   * the token.
   */
  #take(url: URL, body: Buffer, response: ServerResponse): void {
    const [, , kind = '', name = ''] = url.pathname.split('/');
    const isAllowed = url.searchParams.get('auth') === UPLOAD_AUTH;
    if (!isAllowed || decodeURIComponent(name) !== sha256(body).toString('base64url')) {
      response.writeHead(isAllowed ? 400 : 401).end('{}');
      return;
    }
    const path = this.store(kind, body);
    const answer = { url: `https://${this.address}${path}`, direct_path: path };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }

  #give(url: URL, response: ServerResponse): void {
    this.#asked.push(url.pathname);
    const location = this.#redirects.get(url.pathname);
    if (location !== undefined) {
      response.writeHead(302, { location }).end();
      return;
    }
    const stored = this.#files.get(url.pathname);
    if (stored === undefined) response.writeHead(410).end();
    else response.writeHead(200, { 'content-length': stored.length }).end(stored);
  }
}

export interface FileDraft {
  readonly kind: Attachment['kind'];
  readonly content: Buffer;
  readonly mimetype: string;
  readonly caption?: string | undefined;
  /** The file name, used only for documents. */
  readonly fileName?: string | undefined;
  /** Whether an audio file is a voice note. */
  readonly voice?: boolean | undefined;
  readonly seconds?: number | undefined;
  /** Whether the file can be viewed only once. */
  readonly viewOnce?: boolean | undefined;
  /** The id of the message that announces the file's album. */
  readonly album?: string | undefined;
}

/** Uploads a file and creates the message that refers to it. */
export async function createFileMessage(
  host: MediaHost,
  draft: FileDraft,
): Promise<proto.IMessage> {
  const content = await buildMediaMessage(host, draft);
  const message = draft.viewOnce === true ? { viewOnceMessageV2: { message: content } } : content;
  if (draft.album === undefined) return message;
  const associationType = proto.MessageAssociation.AssociationType.MEDIA_ALBUM;
  const parentMessageKey = { id: draft.album };
  const messageAssociation = { associationType, parentMessageKey };
  return { ...message, messageContextInfo: { messageAssociation } };
}

async function buildMediaMessage(host: MediaHost, draft: FileDraft): Promise<proto.IMessage> {
  const { kind, content, mimetype, caption, fileName, voice, seconds } = draft;
  const { stored, ...sealed } = await encryptFile(kind, content);
  const directPath = host.store(kind, stored);
  const common = { url: `https://${host.address}${directPath}`, directPath, mimetype, ...sealed };
  const text = caption === undefined ? {} : { caption };
  if (kind === 'image') return { imageMessage: { ...common, ...text } };
  if (kind === 'video') return { videoMessage: { ...common, ...text } };
  if (kind === 'sticker') return { stickerMessage: common };
  if (kind === 'audio') {
    return { audioMessage: { ...common, ptt: voice === true, seconds: seconds ?? 1 } };
  }
  const documentMessage = { ...common, ...text, fileName: fileName ?? 'file' };
  if (caption === undefined) return { documentMessage };
  // A document with a caption is wrapped in another message.
  return { documentWithCaptionMessage: { message: { documentMessage } } };
}

/**
 * Downloads and decrypts a file that the bot sent.
 * @throws Error when the file is missing on the host or was modified there
 */
export function openAttachment(host: MediaHost, attachment: Attachment): Promise<Buffer> {
  const { kind, directPath = '', mediaKey } = attachment;
  const stored = host.read(directPath);
  if (stored === undefined || mediaKey === undefined)
    throw new Error('The media host does not have this file');
  return decryptFile(kind, stored, mediaKey);
}

const { ResultType } = proto.MediaRetryNotification;

/**
 * Answers a client that asks the account's phone for a file deleted by the host: the phone uploads
 * the file again and sends its new path, encrypted with a key derived from the file's key.
 */
export function resendFile(
  account: SimulatedAccount,
  host: MediaHost,
  asked: BinaryNode,
  attachment: Attachment | undefined,
): BinaryNode {
  const { id = '' } = asked.attrs;
  const path = host.putBack(attachment?.directPath ?? '', attachment?.kind ?? 'document');
  const answer = proto.MediaRetryNotification.encode({
    stanzaId: id,
    result: path === undefined ? ResultType.NOT_FOUND : ResultType.SUCCESS,
    ...(path === undefined ? {} : { directPath: path }),
  }).finish();
  const key = hkdf(attachment?.mediaKey ?? Buffer.alloc(32), 32, {
    info: 'WhatsApp Media Retry Notification',
  });
  const iv = randomBytes(12);
  const sealed = aesEncryptGCM(answer, key, iv, Buffer.from(id));
  const attrs = { from: account.me.pn, type: 'mediaretry', id, t: getTimeInSeconds(account) };
  return buildNode('notification', attrs, [
    buildNode('encrypt', {}, [buildNode('enc_p', {}, sealed), buildNode('enc_iv', {}, iv)]),
    buildNode('rmr', findChild(asked, 'rmr')?.attrs ?? {}),
  ]);
}

/** A file as stored on the media host, and the fields that a message contains about it. */
interface EncryptedFile {
  /** The ciphertext followed by ten bytes of MAC. */
  readonly stored: Buffer;
  readonly mediaKey: Buffer;
  readonly fileSha256: Buffer;
  readonly fileEncSha256: Buffer;
  readonly fileLength: number;
}

const MAC_BYTES = 10;

/** Encrypts a file with a fresh key. */
async function encryptFile(kind: MediaType, plain: Buffer): Promise<EncryptedFile> {
  const mediaKey = randomBytes(32);
  const { iv, cipherKey, macKey } = await getMediaKeys(mediaKey, kind);
  const ciphertext = aesEncrypWithIV(plain, Buffer.from(cipherKey), Buffer.from(iv));
  const stored = Buffer.concat([ciphertext, computeMac(iv, ciphertext, macKey)]);
  return {
    stored,
    mediaKey,
    fileSha256: sha256(plain),
    fileEncSha256: sha256(stored),
    fileLength: plain.length,
  };
}

/**
 * Decrypts a file as phones do.
 * @throws Error when the MAC is wrong
 */
async function decryptFile(kind: MediaType, stored: Buffer, mediaKey: Uint8Array): Promise<Buffer> {
  const { iv, cipherKey, macKey } = await getMediaKeys(mediaKey, kind);
  const ciphertext = stored.subarray(0, -MAC_BYTES);
  if (!timingSafeEqual(computeMac(iv, ciphertext, macKey), stored.subarray(-MAC_BYTES))) {
    throw new Error('This file was modified in transit');
  }
  const decipher = createDecipheriv('aes-256-cbc', cipherKey, iv);
  return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
}

function computeMac(iv: Uint8Array, ciphertext: Buffer, macKey: Uint8Array | undefined): Buffer {
  if (macKey === undefined) throw new Error('The MAC key is missing');
  const mac = hmacSign(Buffer.concat([iv, ciphertext]), Buffer.from(macKey));
  return Buffer.from(mac.subarray(0, MAC_BYTES));
}
