import type { OutboundPart } from '@parley/core';
import type { MessageBody } from './api.ts';

const IS_VOICE_MESSAGE = 1 << 13;
/** Discord requires a waveform; a flat line is accepted. */
const FLAT_WAVEFORM = Buffer.alloc(32, 96).toString('base64');

/**
 * The body of a native voice message. Undefined for a recording that is not Ogg with Opus, or that
 * comes with text or buttons, which Discord refuses (50159). A recording that answers a command is
 * also sent as a file, because Discord would lose its length (discord-api-docs#7153).
 */
export function createVoiceBody(part: OutboundPart, bytes: Uint8Array): MessageBody | undefined {
  const { body, buttons, file, route } = part;
  if (file?.kind !== 'voice' || buttons !== undefined || route.response !== undefined) return;
  const seconds = body.text.trim() === '' ? readOggDuration(bytes) : undefined;
  if (seconds === undefined) return;
  const attachment = { id: 0, filename: file.name, duration_secs: seconds };
  return {
    flags: IS_VOICE_MESSAGE,
    allowed_mentions: { parse: [], replied_user: false },
    attachments: [{ ...attachment, waveform: FLAT_WAVEFORM }],
  };
}

/** Opus positions count 48,000 samples a second, regardless of the input rate (RFC 7845). */
const SAMPLES_PER_SECOND = 48_000;

/**
 * The duration of an Ogg file with Opus in seconds, from the position of its last page; undefined
 * for other files.
 */
export function readOggDuration(bytes: Uint8Array): number | undefined {
  const ogg = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const head = ogg.indexOf('OpusHead');
  const last = ogg.lastIndexOf('OggS');
  if (ogg.indexOf('OggS') !== 0 || head < 0 || head + 12 > ogg.length) return;
  if (last + 14 > ogg.length) return;
  const skipped = ogg.readUInt16LE(head + 10);
  const samples = Number(ogg.readBigInt64LE(last + 6)) - skipped;
  return samples > 0 ? samples / SAMPLES_PER_SECOND : undefined;
}
