import { type Monotonic, systemTime } from '@parley/core';
import { createRests, type FairQueue } from './fair-queue.ts';
import type { PictureFormat } from './picture-format.ts';
import type { ProcessKind, ProcessLimits } from './read-in-process.ts';

/** One received picture. */
export interface PictureRequest {
  /** Its sender, in any form: files are read fairly among senders. */
  readonly sender: string;
  /** Its longest side afterwards, in pixels. */
  readonly side: number;
  /** Fetches it when its turn comes; null when it is gone. */
  load(): Promise<Uint8Array | null>;
}

/**
 * A JPEG, or why there is none: nothing was tried, or the picture could not be decoded within the
 * limits.
 */
export type ScaledPicture =
  | { readonly kind: 'scaled'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'not-tried' | 'failed'; readonly why: string };

/**
 * Makes a picture smaller and upright, and removes its camera metadata. Rejects only when `load`
 * does.
 */
export type ScalePicture = (request: PictureRequest, signal: AbortSignal) => Promise<ScaledPicture>;

interface PictureScalerOptions {
  /** Shared with documents, so that all files together take no more processes. */
  readonly queue: FairQueue;
  readonly limits?: ProcessLimits;
  /** In ms, for pauses. */
  readonly monotonic?: Monotonic;
  /** Replaced in tests. */
  readonly kind?: ProcessKind<string | null>;
}

/**
 * Enough for a photo of 12 million pixels in any format but AVIF, and of 48 million as cameras
 * store it.
 */
const LIMITS: ProcessLimits = { memoryBytes: 190_000_000, timeoutMs: 8_000 };
/** No JPEG in Base64 is longer, in bytes per pixel of a square. */
const MAX_BYTES_A_PIXEL = 4;

/**
 * Creates a scaler that gives each picture a process of its own, like documents (G19). The pictures
 * of a sender whose last one broke a limit stay unscaled for a while.
 */
export function createPictureScaler(options: PictureScalerOptions): ScalePicture {
  const { queue, limits = LIMITS, monotonic = systemTime.monotonic } = options;
  const rests = createRests(monotonic);
  return async ({ sender, side, load }, signal) => {
    if (rests.left(sender) > 0) return notScaled('the one before it broke a limit');
    // Loaded here, because most installations run for days without a picture.
    const { isInstalled, PICTURES, readInProcess } = await import('./read-in-process.ts');
    const { kind = PICTURES } = options;
    if (!isInstalled(kind))
      return notScaled(`the library ${kind.libraries.join()} is not installed`);
    const entry = await queue.enter(sender, 'slow', signal);
    if (entry.kind === 'refused') return notScaled(entry.reason);
    try {
      const bytes = await load();
      if (bytes === null) return notScaled('it is no longer kept');
      const mostBytes = side * side * MAX_BYTES_A_PIXEL;
      const order = { bytes, numbers: [side], mostBytes, limits, signal };
      const outcome = await readInProcess(kind, order);
      if (outcome.kind === 'failed') {
        if (outcome.why === 'stopped') return notScaled('its turn was stopped');
        rests.begin(sender);
        return { kind: 'failed', why: outcome.why };
      }
      if (outcome.result === null) return { kind: 'failed', why: 'it is damaged' };
      return { kind: 'scaled', bytes: new Uint8Array(Buffer.from(outcome.result, 'base64')) };
    } finally {
      entry.leave();
    }
  };
}

function notScaled(why: string): ScaledPicture {
  return { kind: 'not-tried', why };
}

/** Beyond this size, the transfer of a file costs more than its details are worth, in bytes. */
const WORTH_SCALING = 1_500_000;

/** Whether a picture should be shrunk or rotated before a model gets it. */
export function isWorthScaling(
  { type, size, hasExif }: PictureFormat,
  bytes: number,
  side: number,
): boolean {
  if (type === 'image/avif') return true;
  if (size === null) return false;
  return Math.max(size.width, size.height) > side || hasExif || bytes > WORTH_SCALING;
}
