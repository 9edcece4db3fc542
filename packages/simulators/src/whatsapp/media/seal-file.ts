import { createDecipheriv, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  aesEncrypWithIV,
  getMediaKeys,
  hmacSign,
  type MediaType,
  sha256,
} from '@whiskeysockets/baileys';

/** A file as it lies on the media host, and what a message says about it. */
export interface SealedFile {
  /** Ciphertext with ten bytes of MAC at its end. */
  readonly stored: Buffer;
  readonly mediaKey: Buffer;
  readonly fileSha256: Buffer;
  readonly fileEncSha256: Buffer;
  readonly fileLength: number;
}

const MAC_BYTES = 10;

/** Seals a file under a fresh key. */
export async function sealFile(kind: MediaType, plain: Buffer): Promise<SealedFile> {
  const mediaKey = randomBytes(32);
  const { iv, cipherKey, macKey } = await getMediaKeys(mediaKey, kind);
  const ciphertext = aesEncrypWithIV(plain, Buffer.from(cipherKey), Buffer.from(iv));
  const stored = Buffer.concat([ciphertext, macOf(iv, ciphertext, macKey)]);
  return {
    stored,
    mediaKey,
    fileSha256: sha256(plain),
    fileEncSha256: sha256(stored),
    fileLength: plain.length,
  };
}

/**
 * Opens a file as a phone does: nothing that anyone changed.
 * @throws Error when the MAC is wrong.
 */
export async function openFile(
  kind: MediaType,
  stored: Buffer,
  mediaKey: Uint8Array,
): Promise<Buffer> {
  const { iv, cipherKey, macKey } = await getMediaKeys(mediaKey, kind);
  const ciphertext = stored.subarray(0, -MAC_BYTES);
  if (!timingSafeEqual(macOf(iv, ciphertext, macKey), stored.subarray(-MAC_BYTES))) {
    throw new Error('This file was changed on its way');
  }
  const decipher = createDecipheriv('aes-256-cbc', cipherKey, iv);
  return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
}

function macOf(iv: Uint8Array, ciphertext: Buffer, macKey: Uint8Array | undefined): Buffer {
  if (macKey === undefined) throw new Error('No key for the MAC');
  const mac = hmacSign(Buffer.concat([iv, ciphertext]), Buffer.from(macKey));
  return Buffer.from(mac.subarray(0, MAC_BYTES));
}
