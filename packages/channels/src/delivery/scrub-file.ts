import { promisify } from 'node:util';
import { ChannelError } from '@parley/core';
import { type Scrub, scrubBytes } from '@parley/core/telemetry/scrubber';

/**
 * The maximum size that is unpacked from one file, in bytes. A thick book is 5 MB of XML; anything
 * beyond this limit is not scanned.
 */
const MAX_UNPACKED = 32 * 1_024 * 1_024;
const MAX_MEMBERS = 10_000;

/**
 * Removes secrets from a file before it is sent to a chat (G18). Secrets in uncompressed bytes are
 * replaced. A secret in a compressed part (zip, docx, xlsx, gzip) cannot be replaced without
 * breaking the file, so the file is not sent.
 */
export async function scrubFile(name: string, bytes: Uint8Array, scrub: Scrub) {
  let left = MAX_UNPACKED;
  for (const unpack of listCompressedParts(bytes)) {
    const part = left <= 0 ? null : await unpack(left).catch(() => null);
    if (part === null) continue; // The data is corrupt or too large.
    left -= part.byteLength;
    if (scrubBytes(part, scrub) !== part) throw createSecretInFileError(name);
  }
  return scrubBytes(bytes, scrub);
}

function createSecretInFileError(name: string): ChannelError {
  const text = `${name} contains a secret from the settings in a compressed part, so it was not sent. Remove the secret, or send the text.`;
  return new ChannelError({ kind: 'refused' }, text);
}

type DecompressPart = (maxBytes: number) => Promise<Uint8Array>;

const GZIP = Buffer.of(0x1f, 0x8b);
const ZIP_MEMBER = Buffer.from('PK\u0003\u0004', 'latin1');
/**
 * The size of a member's header, and the offsets of its compression method and of the lengths of
 * its name and extra field.
 */
const HEADER = { size: 30, method: 8, nameLength: 26, extraLength: 28 } as const;
const DEFLATE = 8;

/**
 * Members are found by their signatures, so the scan does not depend on the archive's directory.
 * Raw deflate data marks its own end.
 */
function* listCompressedParts(bytes: Uint8Array): Generator<DecompressPart> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (file.subarray(0, GZIP.length).equals(GZIP)) {
    yield async (maxOutputLength) => {
      const { gunzip } = await import('node:zlib');
      return promisify(gunzip)(file, { maxOutputLength });
    };
  }
  if (!file.subarray(0, ZIP_MEMBER.length).equals(ZIP_MEMBER)) return;
  let at = 0;
  for (let nth = 0; nth < MAX_MEMBERS && at >= 0; nth += 1) {
    const data = at + HEADER.size;
    if (data > file.length) return;
    const named = file.readUInt16LE(at + HEADER.nameLength);
    const begin = data + named + file.readUInt16LE(at + HEADER.extraLength);
    if (file.readUInt16LE(at + HEADER.method) === DEFLATE) {
      yield async (maxOutputLength) => {
        const { inflateRaw } = await import('node:zlib');
        return promisify(inflateRaw)(file.subarray(begin), { maxOutputLength });
      };
    }
    at = file.indexOf(ZIP_MEMBER, data);
  }
}
