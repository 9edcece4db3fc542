import { parentPort, workerData } from 'node:worker_threads';
import { htmlToMarkdown } from './html-to-markdown.ts';

/** The input of the thread, set only by `convertPage`. */
export interface PageConversionInput {
  readonly html: string;
  readonly url: string;
}

const { html, url }: PageConversionInput = workerData;
parentPort?.postMessage(htmlToMarkdown(html, url));
