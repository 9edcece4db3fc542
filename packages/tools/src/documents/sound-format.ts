/**
 * Recording formats accepted by transcription services, with the file extensions by which the
 * services distinguish them.
 */
interface AudioType {
  readonly mimeType: string;
  readonly extension: string;
}

/** The type of a recording if transcription services accept it, otherwise null. */
export function detectAudioType(bytes: Uint8Array): AudioType | null {
  if (hasSignature(bytes, 0, 'OggS')) return { mimeType: 'audio/ogg', extension: 'ogg' };
  if (hasSignature(bytes, 0, 'ID3') || isMpegFrame(bytes)) {
    return { mimeType: 'audio/mpeg', extension: 'mp3' };
  }
  if (hasSignature(bytes, 0, 'RIFF') && hasSignature(bytes, 8, 'WAVE')) {
    return { mimeType: 'audio/wav', extension: 'wav' };
  }
  if (hasSignature(bytes, 0, 'fLaC')) return { mimeType: 'audio/flac', extension: 'flac' };
  if (hasSignature(bytes, 4, 'ftyp')) return { mimeType: 'audio/mp4', extension: 'm4a' };
  if (hasSignature(bytes, 0, '\u001a\u0045\u00df\u00a3'))
    return { mimeType: 'audio/webm', extension: 'webm' };
  return null;
}

/**
 * Whether a file is a video, or audio in a video container that does not declare itself as audio.
 */
export function isVideo(bytes: Uint8Array): boolean {
  const isMpeg4 =
    hasSignature(bytes, 4, 'ftyp') &&
    !hasSignature(bytes, 8, 'M4A ') &&
    !hasSignature(bytes, 8, 'M4B ');
  return (
    isMpeg4 || hasSignature(bytes, 0, '\u001a\u0045\u00df\u00a3') || hasSignature(bytes, 8, 'AVI ')
  );
}

/**
 * Matches eleven sync bits and a layer; layer 0 would be the AAC used in broadcasts, which does not
 * occur in chats.
 */
function isMpegFrame(bytes: Uint8Array): boolean {
  const [first = 0, second = 0] = bytes;
  return first === 0xff && (second & 0xe0) === 0xe0 && (second & 0x06) !== 0;
}

/** Whether the bytes at an offset match this signature, in Latin-1. */
export function hasSignature(bytes: Uint8Array, at: number, mark: string): boolean {
  return decodeLatin1(bytes, at, at + mark.length) === mark;
}

export function decodeLatin1(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to));
}
