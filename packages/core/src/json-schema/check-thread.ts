import { parentPort } from 'node:worker_threads';
import { z } from 'zod';
import { reasonOf } from '../errors.ts';
import { type CheckedJson, checkJsonAnswer, type ResponseFormat } from './answer-check.ts';
import type { JsonSchema } from './schema-risk.ts';

/** A check that a third-party schema or regular expression could make endless. */
export type CheckRequest =
  | { readonly kind: 'answer'; readonly text: string; readonly format: ResponseFormat }
  /** Tests only whether the check completes. */
  | { readonly kind: 'value'; readonly value: unknown; readonly schema: JsonSchema }
  | { readonly kind: 'patterns'; readonly patterns: readonly RegExp[]; readonly text: string };

/** A message from a thread: first that it is ready, then the result of each order. */
export type ThreadMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly result: CheckedJson }
  /** The processor time of the check, in ms. */
  | { readonly kind: 'value'; readonly ms: number }
  | { readonly kind: 'patterns'; readonly matches: readonly boolean[] }
  | { readonly kind: 'failed'; readonly reason: string };

function runCheck(order: CheckRequest): ThreadMessage {
  try {
    switch (order.kind) {
      case 'answer':
        return { kind: 'answer', result: checkJsonAnswer(order.text, order.format) };
      case 'value':
        return { kind: 'value', ms: measureCheckTime(order.value, order.schema) };
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

/**
 * Null if zod cannot parse its own output with a plugin's additions, so that nothing can be tested.
 */
function compileCheck(schema: JsonSchema): z.ZodType | null {
  try {
    return z.fromJSONSchema({ ...schema });
  } catch {
    return null;
  }
}

function measureCheckTime(value: unknown, schema: JsonSchema): number {
  const check = compileCheck(schema);
  if (check === null) return 0;
  const before = process.threadCpuUsage();
  check.safeParse(value);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

parentPort?.on('message', (order: CheckRequest) => parentPort?.postMessage(runCheck(order)));
parentPort?.postMessage({ kind: 'ready' } satisfies ThreadMessage);
