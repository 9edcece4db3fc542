/** A file sent by a person or the bot. */
export interface SentFile {
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The media type; derived from the name when absent. */
  readonly type?: string | undefined;
}

/** A file on the servers; the bytes are absent until they are uploaded. */
export interface StoredFile {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly user: string;
  readonly created: number;
  title: string;
  bytes: Uint8Array<ArrayBuffer> | undefined;
  /**
   * Whether `files.completeUploadExternal` was called for the file, which is possible only once.
   */
  isComplete: boolean;
  /** The `ts` of the messages that contain the file, by conversation. */
  readonly shares: Map<string, string[]>;
}

const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  json: 'application/json',
  pdf: 'application/pdf',
  mp3: 'audio/mpeg',
  ogg: 'audio/ogg',
  mp4: 'video/mp4',
};

export class FileStore {
  readonly #files = new Map<string, StoredFile>();

  get(id: string): StoredFile | undefined {
    return this.#files.get(id);
  }

  add(
    file: Omit<StoredFile, 'type' | 'title' | 'shares'> & { readonly type?: string | undefined },
  ) {
    const ending = file.name.split('.').at(-1)?.toLowerCase() ?? '';
    const type = file.type ?? TYPES[ending] ?? 'application/octet-stream';
    const stored: StoredFile = { ...file, type, title: file.name, shares: new Map() };
    this.#files.set(file.id, stored);
    return stored;
  }
}
