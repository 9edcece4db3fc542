import { parentPort, workerData } from 'node:worker_threads';
import type { DocumentLimits } from './document-text.ts';
import { extractText } from './extract-text.ts';

/** What the thread is started with, by `createDocumentReader` and nobody else. */
export interface ThreadOrder {
  readonly bytes: Uint8Array;
  readonly limits: DocumentLimits;
}

const { bytes, limits }: ThreadOrder = workerData;
parentPort?.postMessage(await extractText(bytes, limits));
