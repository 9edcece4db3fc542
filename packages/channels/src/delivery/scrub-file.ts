import { promisify } from 'node:util';
import { ChannelError } from '@parley/core';
import { type Scrub, scrubBytes } from '@parley/core/telemetry/scrubber';

/** Most that is unpacked of one file, in bytes. A thick book is 5 MB of XML; what is beyond is not looked into. */
const MAX_UNPACKED = 32 * 1_024 * 1_024;
const MAX_MEMBERS = 10_000;

/**
 * A file without secrets, as it may go to a chat (G18). What stands in its bytes is taken out of them. What stands in a
 * compressed part of it (zip, docx, xlsx, gzip) cannot be, since the file would be broken: then it is not sent.
 */
export async function scrubFile(name: string, bytes: Uint8Array, scrub: Scrub) {
  let left = MAX_UNPACKED;
  for (const unpack of compressedParts(bytes)) {
    const part = left <= 0 ? null : await unpack(left).catch(() => null);
    if (part === null) continue; // Damaged, or too large.
    left -= part.byteLength;
    if (scrubBytes(part, scrub) !== part) throw secretInFileError(name);
  }
  return scrubBytes(bytes, scrub);
}

function secretInFileError(name: string): ChannelError {
  const text = `${name} has a secret of the settings in a compressed part, so it is not sent. Remove it there, or send the text.`;
  return new ChannelError({ kind: 'refused' }, text);
}

type Unpack = (maxBytes: number) => Promise<Uint8Array>;

const GZIP = Buffer.of(0x1f, 0x8b);
const ZIP_MEMBER = Buffer.from('PK\u0003\u0004', 'latin1');
/** Bytes before the name of a member; where its method and the lengths of its name and of what follows are. */
const HEADER = { size: 30, method: 8, nameLength: 26, extraLength: 28 } as const;
const DEFLATE = 8;

/** Found by their beginnings, so that no list of an archive decides what is looked at. Raw data ends by itself. */
function* compressedParts(bytes: Uint8Array): Generator<Unpack> {
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
