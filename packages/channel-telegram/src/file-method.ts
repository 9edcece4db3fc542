import type { OutboundFile } from '@parley/contracts';

/** The call that sends a file, and the name of the field that carries it. */
export interface FileMethod {
  readonly method: string;
  readonly field: string;
  /** Largest file it takes, in bytes. */
  readonly maxBytes: number;
}

const MB = 1024 * 1024;
/** Largest file a bot may send, in bytes. */
export const MAX_UPLOAD_BYTES = 50 * MB;
const MAX_PHOTO_BYTES = 10 * MB;

/** Takes anything. */
export const DOCUMENT: FileMethod = method('Document');
const PHOTO: FileMethod = { ...method('Photo'), maxBytes: MAX_PHOTO_BYTES };
const ANIMATION = method('Animation');
const AUDIO = method('Audio');
const VIDEO = method('Video');
const VOICE = method('Voice');

/** By kind, then by type: what Telegram shows natively. Everything else is a file to open. */
const NATIVE: Readonly<Record<OutboundFile['kind'], readonly [RegExp, FileMethod][]>> = {
  image: [
    [/^image\/(?:jpe?g|png|webp)$/, PHOTO],
    [/^image\/gif$/, ANIMATION],
  ],
  voice: [[/^audio\/(?:ogg|opus|mpeg|mp3|mp4|m4a|x-m4a)/, VOICE]],
  audio: [[/^audio\/(?:mpeg|mp3|mp4|m4a|x-m4a)$/, AUDIO]],
  video: [[/^video\/mp4$/, VIDEO]],
  document: [],
};

/** How Telegram shows a file of this kind and type best. */
export function fileMethodOf(
  { kind, mimeType }: Pick<OutboundFile, 'kind' | 'mimeType'>,
  bytes: number,
): FileMethod {
  const type = mimeType.toLowerCase();
  const native = NATIVE[kind].find(([pattern]) => pattern.test(type))?.[1];
  return native !== undefined && bytes <= native.maxBytes ? native : DOCUMENT;
}

function method(name: string): FileMethod {
  return { method: `send${name}`, field: name.toLowerCase(), maxBytes: MAX_UPLOAD_BYTES };
}
