import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { sha256 } from '@whiskeysockets/baileys';
import { type SelfSigned, selfSignedCertificate } from './self-signed-certificate.ts';

/** What a client has to show to upload; it gets it from the `media_conn` query. */
export const UPLOAD_AUTH = 'double-upload';

/** Where WhatsApp's files lie, sealed: https on loopback with a certificate of its own. */
export class MediaHost {
  readonly #files = new Map<string, Buffer>();
  /** What phones still have of files that the host has thrown away. */
  readonly #onPhones = new Map<string, Buffer>();
  readonly #redirects = new Map<string, string>();
  readonly #asked: string[] = [];
  readonly #identity: SelfSigned;
  readonly #server: Server;
  readonly #onChange: () => void;
  #failures: { readonly status: number; left: number } | undefined;

  constructor(clock: () => number, onChange: () => void) {
    this.#identity = selfSignedCertificate(clock());
    this.#onChange = onChange;
    const { certificate: cert, privateKey: key } = this.#identity;
    this.#server = createServer({ cert, key }, (request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  /** PEM: a client has to trust it, for example through `tls.setDefaultCACertificates`. */
  get certificate(): string {
    return this.#identity.certificate;
  }

  /** `host:port`. */
  get address(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `127.0.0.1:${port}`;
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(0, '127.0.0.1', resolve);
    });
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  /** Keeps a sealed file; gives back its path on the host. */
  store(kind: string, sealed: Buffer): string {
    const path = `/v/${kind}/${randomBytes(12).toString('hex')}.enc`;
    this.#files.set(path, sealed);
    this.#onChange();
    return path;
  }

  read(path: string): Buffer | undefined {
    return this.#files.get(path);
  }

  /** Changes a byte of a sealed file, as somebody on the host could. */
  corrupt(path: string): void {
    const stored = this.#files.get(path);
    if (stored === undefined) throw new Error(`No file ${path}`);
    const changed = Buffer.from(stored);
    changed.writeUInt8(changed.readUInt8(0) ^ 0xff, 0);
    this.#files.set(path, changed);
  }

  /** Files are kept for some weeks only; the phone may have thrown it away as well. */
  forget(path: string, { onPhone = false }: { readonly onPhone?: boolean } = {}): void {
    const stored = this.#files.get(path);
    this.#files.delete(path);
    if (stored !== undefined && !onPhone) this.#onPhones.set(path, stored);
  }

  /** The phone puts a file back under another path, if it still has it. */
  putBack(path: string, kind: string): string | undefined {
    const stored = this.#files.get(path) ?? this.#onPhones.get(path);
    return stored && this.store(kind, stored);
  }

  /** From now on this path leads to another address. */
  redirect(path: string, address: string): void {
    this.#redirects.set(path, address);
  }

  /** Paths that were asked for, oldest first. */
  get asked(): readonly string[] {
    return this.#asked;
  }

  /** The next requests are answered with this status. */
  fail(status: number, times = 1): void {
    this.#failures = { status, left: times };
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', `https://${this.address}`);
    const body = Buffer.concat(await request.toArray());
    if (this.#failures !== undefined && this.#failures.left > 0) {
      this.#failures.left -= 1;
      response.writeHead(this.#failures.status).end('{}');
    } else if (request.method === 'POST') this.#take(url, body, response);
    else this.#give(url, response);
  }

  /** Takes only what has the name of its own content, from a client that may upload. */
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
