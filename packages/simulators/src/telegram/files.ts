import { mkdirSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { createBadRequestRefusal } from './request.ts';

export interface SentFile {
  readonly kind: FileKind;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly name?: string | undefined;
  readonly type?: string | undefined;
  /** The size that the servers report, if it differs from the actual size. */
  readonly claimedSize?: number | undefined;
}

export type FileKind =
  | 'photo'
  | 'document'
  | 'voice'
  | 'audio'
  | 'video'
  | 'video_note'
  | 'animation'
  | 'sticker';

/**
 * A self-hosted server in local mode, which stores files below a folder and returns their absolute
 * paths.
 */
export interface LocalServer {
  readonly folder: string;
  /**
   * Whether a separate web server serves the folder; the Bot API server itself does not serve
   * files.
   */
  readonly servesFiles?: boolean;
}

const MB = 1024 * 1024;
const GOOD_FOR_MS = 60 * 60 * 1000;

interface StoredFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly size: number;
  readonly path: string;
  goodUntil: number;
}

/** The files of all chats, by id. */
export class FileStore {
  readonly #files = new Map<string, StoredFile>();
  readonly #clock: () => number;
  readonly #token: string;
  readonly #local: LocalServer | undefined;

  constructor(clock: () => number, token: string, local?: LocalServer) {
    this.#clock = clock;
    this.#token = token;
    this.#local = local;
  }

  get maxUpload(): number {
    return (this.#local === undefined ? 50 : 2_000) * MB;
  }

  get #maxDownload(): number {
    return (this.#local === undefined ? 20 : 2_000) * MB;
  }

  /** Stores a file and returns the message fields that refer to it. */
  store(file: SentFile): Record<string, unknown> {
    const { kind, bytes, name, type, claimedSize = bytes.length } = file;
    const described = {
      ...this.#keep(kind, bytes, claimedSize),
      ...(name === undefined ? {} : { file_name: name }),
      ...(type === undefined ? {} : { mime_type: type }),
    };
    switch (kind) {
      case 'photo': {
        const small = this.#keep('thumb', bytes.slice(0, 1), 1);
        const sizes = [
          { ...small, width: 90, height: 60 },
          { ...this.#keep(kind, bytes, claimedSize), width: 1280, height: 853 },
        ];
        return { photo: sizes };
      }
      case 'animation':
        return { animation: described, document: described };
      case 'sticker':
        return { sticker: { ...described, type: 'regular', is_animated: false, is_video: false } };
      default:
        return { [kind]: described };
    }
  }

  /** Implements getFile: returns a path that is valid for an hour. */
  locate(fileId: string | undefined): object {
    const file = this.#files.get(fileId ?? '');
    if (file === undefined)
      throw createBadRequestRefusal('wrong file_id or the file is temporarily unavailable');
    if (file.size > this.#maxDownload) throw createBadRequestRefusal('file is too big');
    file.goodUntil = this.#clock() + GOOD_FOR_MS;
    const file_path = this.#local === undefined ? file.path : this.#keptIn(this.#local, file);
    return { file_id: fileId, file_unique_id: fileId, file_size: file.size, file_path };
  }

  #keptIn({ folder }: LocalServer, { path, bytes }: StoredFile): string {
    const whole = join(folder, this.#token, path);
    mkdirSync(dirname(whole), { recursive: true });
    writeFileSync(whole, bytes);
    return whole;
  }

  /** Answers `/file/bot<token>/<path>`. */
  serve(path: string, response: ServerResponse): void {
    const file = [...this.#files.values()].find((known) => known.path === path);
    const isServed = this.#local === undefined || this.#local.servesFiles === true;
    if (!isServed || file === undefined || file.goodUntil <= this.#clock()) {
      const body = JSON.stringify({ ok: false, error_code: 404, description: 'Not Found' });
      response.writeHead(404, { 'content-type': 'application/json' }).end(body);
      return;
    }
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    // The content is sent in chunks without a content length, so the reader has to enforce its
    // limit.
    for (let at = 0; at < file.bytes.length; at += 65_536) {
      response.write(file.bytes.subarray(at, at + 65_536));
    }
    response.end();
  }

  #keep(kind: string, bytes: Uint8Array<ArrayBuffer>, size: number): Record<string, unknown> {
    const number = this.#files.size + 1;
    const id = `AgACAgIAAxkBAA-${kind}_${number}`;
    const path = `${kind}s/file_${number}`;
    this.#files.set(id, { bytes, size, path, goodUntil: 0 });
    return { file_id: id, file_unique_id: `u${number}`, file_size: size };
  }
}
