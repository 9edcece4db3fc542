import { parentPort } from 'node:worker_threads';
import { z } from 'zod';
import { reasonOf } from '../errors.ts';
import { type CheckedJson, checkAnswer, type ResponseFormat } from './answer-check.ts';
import type { JsonSchema } from './schema-risk.ts';

/** A check that a schema or a regular expression from outside can make endless. */
export type CheckOrder =
  | { readonly kind: 'answer'; readonly text: string; readonly format: ResponseFormat }
  /** Only whether the check comes to an end. */
  | { readonly kind: 'value'; readonly value: unknown; readonly schema: JsonSchema }
  | { readonly kind: 'patterns'; readonly patterns: readonly RegExp[]; readonly text: string };

/** What a thread says: first that it is ready, then the result of each order. */
export type ThreadMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly result: CheckedJson }
  | { readonly kind: 'value' }
  | { readonly kind: 'patterns'; readonly matches: readonly boolean[] }
  | { readonly kind: 'failed'; readonly reason: string };

function run(order: CheckOrder): ThreadMessage {
  try {
    switch (order.kind) {
      case 'answer':
        return { kind: 'answer', result: checkAnswer(order.text, order.format) };
      case 'value':
        z.fromJSONSchema({ ...order.schema }).safeParse(order.value);
        return { kind: 'value' };
      case 'patterns':
        return {
          kind: 'patterns',
          matches: order.patterns.map((pattern) => pattern.test(order.text)),
        };
    }
  } catch (error) {
    return { kind: 'failed', reason: reasonOf(error) };
  }
}

parentPort?.on('message', (order: CheckOrder) => parentPort?.postMessage(run(order)));
parentPort?.postMessage({ kind: 'ready' } satisfies ThreadMessage);
