import { type Monotonic, systemTime } from '@parley/core';
import { createSenderPauses, type FairQueue } from './fair-queue.ts';
import type { PictureFormat } from './picture-format.ts';
import type { ProcessKind, ProcessLimits } from './read-in-process.ts';

export interface PictureRequest {
  /** A string that identifies the sender; files are scheduled fairly among senders. */
  readonly sender: string;
  /** The length of its longest side after scaling, in pixels. */
  readonly side: number;
  /** Fetches the picture when its turn comes; null if it is no longer kept. */
  load(): Promise<Uint8Array | null>;
}

/**
 * The resulting JPEG, or the reason why there is none: nothing was attempted, or the picture could
 * not be decoded within the limits.
 */
export type ScaledPicture =
  | { readonly kind: 'scaled'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'not-tried' | 'failed'; readonly why: string };

/**
 * Scales a picture down, rotates it upright and removes its camera metadata. Rejects only if `load`
 * rejects.
 */
export type ScalePicture = (request: PictureRequest, signal: AbortSignal) => Promise<ScaledPicture>;

interface PictureScalerOptions {
  /**
   * The slots shared with the document reader, so that all files together use no more processes.
   */
  readonly queue: FairQueue;
  readonly limits?: ProcessLimits;
  /** The clock that measures pauses, in ms. */
  readonly monotonic?: Monotonic;
  readonly kind?: ProcessKind<string | null>;
}

/**
 * Enough memory for a photo of 12 million pixels in any format except AVIF, and of 48 million in
 * the formats that cameras use.
 */
const LIMITS: ProcessLimits = { memoryBytes: 190_000_000, timeoutMs: 8_000 };
/** The maximum length of a JPEG in Base64, in bytes per pixel of a square. */
const MAX_BYTES_A_PIXEL = 4;

/**
 * Creates a scaler that processes each picture in a separate process, like documents (G19). If a
 * sender's picture exceeded a limit, the sender's next pictures stay unscaled for a while.
 */
export function createPictureScaler(options: PictureScalerOptions): ScalePicture {
  const { queue, limits = LIMITS, monotonic = systemTime.monotonic } = options;
  const rests = createSenderPauses(monotonic);
  return async ({ sender, side, load }, signal) => {
    if (rests.left(sender) > 0)
      return createUnscaledResult('the previous picture exceeded a limit');
    // Loaded here, because most installations run for days without receiving a picture.
    const { isInstalled, PICTURES, readInProcess } = await import('./read-in-process.ts');
    const { kind = PICTURES } = options;
    if (!isInstalled(kind))
      return createUnscaledResult(`the library ${kind.libraries.join()} is not installed`);
    const entry = await queue.enter(sender, 'slow', signal);
    if (entry.kind === 'refused') return createUnscaledResult(entry.reason);
    try {
      const bytes = await load();
      if (bytes === null) return createUnscaledResult('it is no longer kept');
      const mostBytes = side * side * MAX_BYTES_A_PIXEL;
      const order = { bytes, numbers: [side], mostBytes, limits, signal };
      const outcome = await readInProcess(kind, order);
      if (outcome.kind === 'failed') {
        if (outcome.why === 'stopped') return createUnscaledResult('its turn was stopped');
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

function createUnscaledResult(why: string): ScaledPicture {
  return { kind: 'not-tried', why };
}

/** Files larger than this, in bytes, cost more to transfer than their details are worth. */
const WORTH_SCALING = 1_500_000;

/** Whether a picture should be scaled down or rotated before it is given to a model. */
export function isWorthScaling(
  { type, size, hasExif }: PictureFormat,
  bytes: number,
  side: number,
): boolean {
  if (type === 'image/avif') return true;
  if (size === null) return false;
  return Math.max(size.width, size.height) > side || hasExif || bytes > WORTH_SCALING;
}
